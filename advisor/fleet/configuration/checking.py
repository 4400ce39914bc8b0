"""What is checked before a fleet is put into force, and no more once it is.

It takes longer than reading the fleet, which workers do at each decision, and no fleet that is in
force stops for it: its other pairs are measured.
"""

from advisor.domain.quantities import format_duration
from advisor.fleet.configuration.reading import wrong
from advisor.fleet.configuration.resolving import resolved
from advisor.fleet.configuration.tables import FleetFile
from advisor.fleet.plan.common_hours import CommonHours
from advisor.fleet.plan.fleet import Fleet, Host


def checked(file: FleetFile) -> Fleet:
    """The fleet of the tables, as `resolved`, if each of its pairs can be measured at some time.

    Raises BadFleet.
    """
    fleet = resolved(file)
    hours = CommonHours(fleet)
    for task in fleet.tasks:
        pair = hours.without(task)
        if pair is not None:
            ends = " and ".join(_words(fleet.hosts[host]) for host in pair)
            raise wrong(
                ("measure", task.name),
                f"{ends} are never both free for the {format_duration(task.longest_s)} that a "
                "measurement may take",
                "shorten the quiet hours of one, or leave the pair out",
            )
    return fleet


def _words(host: Host) -> str:
    return f"hosts.{host.name} ({f'quiet {host.quiet}' if host.quiet else 'never quiet'})"
