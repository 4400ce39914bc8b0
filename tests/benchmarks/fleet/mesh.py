"""A fleet.toml of many hosts at sites with uplinks, for the simulation.

python -m tests.benchmarks.fleet.mesh HOSTS SITES > mesh.toml
"""

import sys

ZONES = ("Europe/Berlin", "America/Chicago", "Asia/Tokyo", "UTC")


def fleet_toml(hosts: int, sites: int) -> str:
    """Hosts of 10 and 100 Gbit/s; a fifth of them is left alone in office hours."""
    lines = ["[limits]", 'share-per-day = "1%"']
    for number in range(hosts):
        site = number % sites
        lines += [
            f"[hosts.h{number}]",
            f'bandwidth = "{100 if site % 4 == 0 else 10}Gbit"',
            f'tags = ["site-{site}"]',
        ]
        if number % 5 == 0:
            lines += ['quiet-hours = ["Mon-Fri 08:00-18:00"]', f'time-zone = "{ZONES[site % 4]}"']
    for site in range(sites):
        lines += [f"[resources.uplink-{site}]", f'hosts = ["tag:site-{site}"]', "at-once = 8"]
    lines += ["[measure.mesh]", 'what = "advice"', 'between = "mesh"']
    lines += ['every = "180d"', 'budget = "30s"']
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(fleet_toml(int(sys.argv[1]), int(sys.argv[2])))
