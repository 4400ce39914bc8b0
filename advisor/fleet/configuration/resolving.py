"""The tables of `fleet.toml` made into a Fleet: every name resolved, every value read."""

import math
import re
from collections.abc import Iterable, Sequence
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from advisor.domain.addresses import parse_host_port
from advisor.domain.endpoints import Endpoint
from advisor.domain.printable import InterfaceName, fitting
from advisor.domain.quantities import format_duration, parse_duration, parse_rate
from advisor.fleet.configuration import tables as t
from advisor.fleet.configuration.pairs import task_of
from advisor.fleet.configuration.reading import BadFleet, wrong
from advisor.fleet.configuration.selecting import Selector
from advisor.fleet.configuration.values import Place, read
from advisor.fleet.plan.fleet import Fleet, Host, Limits, PlannedTraffic, Resource
from advisor.fleet.plan.loads import resource_loads
from advisor.fleet.plan.quiet_hours import QuietHours, Window

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_SHARE: Final = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*%\s*")
_ZONE: Final = re.compile(r"[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+){0,2}")


def resolved(file: t.FleetFile) -> Fleet:
    """The fleet of the tables. Raises BadFleet with the first key that cannot be used."""
    for key, tables, most in (
        ("hosts", file.hosts, t.HOSTS_LIMIT),
        ("groups", file.groups, t.OTHERS_LIMIT),
        ("resources", file.resources, t.OTHERS_LIMIT),
        ("measure", file.measure, t.OTHERS_LIMIT),
    ):
        _check_names(key, tables, most)
    if len(file.hosts) < 2:
        raise wrong(("hosts",), "there are fewer than two hosts", "write a table for each host")
    hosts = tuple(_host(name, one) for name, one in file.hosts.items())
    _check_reached_once(hosts)
    selector = Selector(hosts, {name: one.hosts for name, one in file.groups.items()})
    limits = _limits(file.limits)
    fleet = Fleet(
        hosts=hosts,
        tasks=tuple(task_of(name, one, selector) for name, one in file.measure.items()),
        limits=limits,
        resources=tuple(_resource(name, one, selector) for name, one in file.resources.items()),
        planned=tuple(_planned(n, one, selector) for n, one in enumerate(file.planned)),
    )
    if not fleet.tasks:
        raise wrong(("measure",), "nothing is measured", "write a table such as [measure.mesh]")
    _check_bounds(fleet)
    return fleet


def _check_names(key: str, tables: Iterable[str], most: int) -> None:
    names = list(tables)
    if len(names) > most:
        raise wrong((key,), f"there are {len(names)}", f"write {most} at most")
    for name in names:
        if not _NAME.fullmatch(name):
            raise wrong(
                (key, name),
                "this cannot be a name",
                "use letters, digits, dots, dashes and underscores",
            )


def _host(name: str, table: t.HostTable) -> Host:
    place = ("hosts", name)
    reach = table.reach if table.reach is not None else name
    read((*place, "reach"), reach, Endpoint.parse)
    if table.agent:
        read((*place, "agent"), table.agent, parse_host_port)
    if table.agent and table.agent_command:
        raise wrong(
            (*place, "agent-command"), "there is a listening agent already", "remove one of the two"
        )
    for number, interface in enumerate(table.interfaces):
        if fitting(interface, InterfaceName) is None:
            raise wrong(
                (*place, "interfaces", number),
                f"'{interface}' is not an interface",
                "write names as `ip link` shows them",
            )
    return Host(
        name=name,
        reach=reach,
        bandwidth_bps=read((*place, "bandwidth"), table.bandwidth, parse_rate),
        interfaces=_distinct((*place, "interfaces"), table.interfaces),
        agent=table.agent,
        agent_command=table.agent_command,
        tags=_tags(place, table.tags),
        quiet=_quiet(place, table),
    )


def _tags(place: Place, tags: Sequence[str]) -> tuple[str, ...]:
    for number, tag in enumerate(tags):
        if not _NAME.fullmatch(tag):
            raise wrong(
                (*place, "tags", number),
                f"'{tag}' cannot be a tag",
                "use letters, digits, dots, dashes and underscores",
            )
    return _distinct((*place, "tags"), tags)


def _distinct(place: Place, words: Sequence[str]) -> tuple[str, ...]:
    for number, word in enumerate(words):
        if word in words[:number]:
            raise wrong((*place, number), f"'{word}' is there twice", "remove one of them")
    return tuple(words)


def _quiet(place: Place, table: t.HostTable) -> QuietHours | None:
    zone_place = (*place, "time-zone")
    zone = table.time_zone
    try:
        # Only names: the database is a folder of files, and a path would lead out of it.
        if not _ZONE.fullmatch(zone):
            raise ZoneInfoNotFoundError
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise wrong(
            zone_place, f"there is no time zone '{zone}'", "write one as in Europe/Berlin"
        ) from None
    windows = tuple(
        read((*place, "quiet-hours", number), text, Window.parse)
        for number, text in enumerate(table.quiet_hours)
    )
    if not windows:
        return None
    quiet = QuietHours(zone, windows)
    if quiet.longest_gap_s() <= 0:
        raise wrong(
            (*place, "quiet-hours"),
            "no time of the week is left",
            "shorten them, or leave the host out",
        )
    return quiet


def _check_reached_once(hosts: Sequence[Host]) -> None:
    """Two names for one machine would be measured at the same time."""
    first: dict[tuple[str, str], Host] = {}
    for host in hosts:
        for interface in host.interfaces or ("",):
            other = first.setdefault((Endpoint.parse(host.reach).host, interface), host)
            if other is not host:
                raise wrong(
                    ("hosts", host.name, "reach"),
                    f"'{host.reach}' is hosts.{other.name} already",
                    "write one table for each host",
                )


def _limits(table: t.LimitsTable) -> Limits:
    retry_s = read(("limits", "retry"), table.retry, parse_duration)
    most_s = read(("limits", "retry-most"), table.retry_most, parse_duration)
    if not 1 <= retry_s <= most_s:
        raise wrong(
            ("limits", "retry"),
            f"'{table.retry}' is not between a second and retry-most",
            "shorten it, or lengthen retry-most",
        )
    return Limits(
        share_per_day=read(("limits", "share-per-day"), table.share_per_day, _share),
        at_once=table.at_once,
        retry_s=retry_s,
        retry_most_s=most_s,
    )


def _share(text: str) -> float:
    match = _SHARE.fullmatch(text)
    share = float(match.group(1)) / 100 if match else math.nan
    if not 0 < share <= 1:
        raise ValueError("not a share: write a percentage above zero, as in 1%")
    return share


def _resource(name: str, table: t.ResourceTable, selector: Selector) -> Resource:
    place = ("resources", name)
    return Resource(
        name=name,
        members=frozenset(selector.hosts((*place, "hosts"), table.hosts)),
        at_once=table.at_once,
        bandwidth_bps=(
            read((*place, "bandwidth"), table.bandwidth, parse_rate) if table.bandwidth else None
        ),
        inside=table.inside,
    )


def _planned(number: int, table: t.PlannedTable, selector: Selector) -> PlannedTraffic:
    place = ("planned", number)
    return PlannedTraffic(
        source=selector.host((*place, "source"), table.source),
        destination=selector.host((*place, "destination"), table.destination),
        at_s=table.at.timestamp(),
    )


def _check_bounds(fleet: Fleet) -> None:
    """A measurement that no bound or quiet hours allow is refused, not skipped forever."""
    for task in fleet.tasks:
        place = ("measure", task.name, "budget")
        hosts = {n for block in task.blocks for side in block for n in side}
        for host in (fleet.hosts[n] for n in sorted(hosts)):
            most = fleet.bound_bytes(host.bandwidth_bps)
            if task.most_bytes(host.bandwidth_bps) > most:
                raise _too_long(fleet, place, f"the link of hosts.{host.name}")
            if host.quiet and host.quiet.longest_gap_s() < task.longest_s:
                raise wrong(
                    place,
                    f"with {format_duration(task.longest_s - task.budget_s)} around it, it does "
                    f"not fit between the quiet hours of hosts.{host.name}",
                    "shorten one of them",
                )
        for resource, load in zip(fleet.resources, resource_loads(fleet, task), strict=True):
            rate_bps = resource.bandwidth_bps
            if load is not None and rate_bps and load > fleet.bound_bytes(rate_bps):
                raise _too_long(fleet, place, f"resources.{resource.name}")


def _too_long(fleet: Fleet, place: Place, link: str) -> BadFleet:
    share = f"{fleet.limits.share_per_day:.3g}"
    return wrong(
        place,
        f"at full rate it moves more than limits.share-per-day lets through {link} in a day",
        f"shorten it, or raise the share above {float(share):.3g} of the link",
    )
