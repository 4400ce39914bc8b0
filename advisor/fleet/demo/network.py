"""The hosts of a demonstration: a lab in which each reaches all others, and their `fleet.toml`."""

from collections.abc import Sequence
from typing import Final

from advisor.lab.lifecycle import Plan
from advisor.lab.paths import Direction, EmulatedPath
from advisor.traits import reference_transport

# What one machine carries for four pairs at a time, and different enough to see which host limits.
_RATES_BPS: Final = (100e6, 60e6, 100e6, 40e6, 80e6, 20e6, 100e6, 50e6)
_RTTS_S: Final = (0.002, 0.002, 0.010, 0.010, 0.020, 0.020, 0.060, 0.060)
_MTU_BYTES: Final = 1500
TASK: Final = "mesh"


def host_names(number: int) -> list[str]:
    """`h1`, `h2`, …"""
    return [f"h{n}" for n in range(1, number + 1)]


def _rate_bps(number: int) -> float:
    return _RATES_BPS[number % len(_RATES_BPS)]


def lab_plan(hosts: Sequence[str]) -> Plan:
    """The lab: each host has a rate and a distance of its own."""
    paths = {}
    for number, host in enumerate(hosts):
        way = Direction(rate_bps=_rate_bps(number), delay_s=_RTTS_S[number % len(_RTTS_S)] / 2)
        paths[host] = EmulatedPath(forward=way, reverse=way, mtu_bytes=_MTU_BYTES)
    return Plan(hosts=paths, mesh=True)


def fleet_toml(lab: str, hosts: Sequence[str], *, every: str, budget: str, retry: str) -> str:
    """The description of a mesh of these hosts of a lab, as an operator writes it."""
    lines = [
        "[limits]",
        'share-per-day = "100%"  # It is all emulated.',
        f'retry = "{retry}"',
        f'retry-most = "{retry}"',
    ]
    for number, host in enumerate(hosts):
        lines += [
            f"[hosts.{host}]",
            f'reach = "lab:{lab}:{host}"',
            f'bandwidth = "{_rate_bps(number) / 1e6:g}Mbit"',
        ]
    lines += [
        f"[measure.{TASK}]",
        'what = "advice"',
        'between = "mesh"',
        f'transports = ["{reference_transport()}"]',
        f'every = "{every}"',
        f'budget = "{budget}"',
    ]
    return "\n".join(lines) + "\n"
