"""Compares one host's kernel settings with the field's recommendations, for no particular path."""

from collections.abc import Iterator
from typing import Final

import msgspec

from advisor.domain.quantities import format_bytes, format_rate
from advisor.models import host_tuning as ht
from advisor.models.findings import Finding, Remedy, Severity

NEAR_RTT_S: Final = 0.01
"""The path a buffer is judged for: 10 ms, to the next region. A maximum too small for one stream
there limits nearly every transfer between sites."""

FAR_RTT_S: Final = 0.1
"""The path that the recommendations are taken for: across a continent."""

_STANDARD_MTU: Final = 1500
_JUMBO_FROM_BPS: Final = 10e9


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What is audited; None or empty where the host does not report it.

    `buffers`: by sysctl name, the maximum, or minimum, default and maximum, in bytes. `links`: of
    every network card, its speed in bit/s (None: not known) and MTU in bytes.
    """

    buffers: dict[str, tuple[int, ...]]
    congestion: str | None
    default_qdisc: str | None
    mtu_probing: int | None
    cores: int
    links: dict[str, tuple[float | None, int]]

    @property
    def rate_bps(self) -> float:
        """The fastest card's speed, or the usual one of a transfer node."""
        known = [rate for rate, _ in self.links.values() if rate]
        return max(known, default=ht.USUAL_RATE_BPS)


def audit(settings: Settings) -> list[Finding]:
    """Every known setting, in the order in which outgoing data passes them."""
    return [
        *(_buffer(name, values, settings.rate_bps) for name, values in settings.buffers.items()),
        *_congestion(settings),
        *_qdisc(settings),
        *_mtu_probing(settings),
        *_frames(settings),
        *_cores(settings),
    ]


def _buffer(name: str, values: tuple[int, ...], rate_bps: float) -> Finding:
    recommendation = ht.recommended(rate_bps, FAR_RTT_S)
    wanted, maximum = recommendation.settings[name], values[-1]
    needed = rate_bps * NEAR_RTT_S / 8
    if maximum >= wanted[-1]:
        return Finding(what=name, source=_sizes(values), severity=Severity.GOOD)
    limits = maximum < needed
    near = f"{format_rate(rate_bps)} over 10 ms needs {format_bytes(needed)} in one stream"
    return Finding(
        what=name,
        source=_sizes(values),
        severity=Severity.BAD if limits else Severity.WATCH,
        cost=near if limits else "enough for near paths, not for far ones",
        remedies=_remedies(ht.sysctl_line(name, *wanted)),
        reference=f"{recommendation.source} ({recommendation.as_of})",
    )


def _sizes(values: tuple[int, ...]) -> str:
    return format_bytes(values[-1]) if len(values) == 1 else f"up to {format_bytes(values[-1])}"


def _congestion(settings: Settings) -> Iterator[Finding]:
    if value := settings.congestion:
        yield _compared("net.ipv4.tcp_congestion_control", value, ht.slow_congestion(value))


def _qdisc(settings: Settings) -> Iterator[Finding]:
    if value := settings.default_qdisc:
        yield _compared("net.core.default_qdisc", value, ht.unpaced_qdisc(value))


def _compared(name: str, value: str, better: ht.Better | None) -> Finding:
    if better is None:
        return Finding(what=name, source=value, severity=Severity.GOOD)
    return Finding(
        what=name,
        source=value,
        severity=Severity.WATCH,
        cost=better.reason,
        remedies=_remedies(ht.sysctl_line(name, better.value)),
    )


def _mtu_probing(settings: Settings) -> Iterator[Finding]:
    name, value = "net.ipv4.tcp_mtu_probing", settings.mtu_probing
    if value is None:
        return
    jumbo = any(mtu > _STANDARD_MTU for _, mtu in settings.links.values())
    if value == 0 and jumbo:
        yield Finding(
            what=name,
            source="0",
            severity=Severity.WATCH,
            cost="with jumbo frames, a path that silently drops them stalls TCP",
            remedies=_remedies(ht.sysctl_line(name, 1)),
        )
    else:
        yield Finding(what=name, source=str(value), severity=Severity.GOOD)


def _frames(settings: Settings) -> Iterator[Finding]:
    for name, (rate_bps, mtu) in settings.links.items():
        speed = format_rate(rate_bps) if rate_bps else "speed not known"
        small = bool(rate_bps and rate_bps >= _JUMBO_FROM_BPS) and mtu <= _STANDARD_MTU
        yield Finding(
            what=name,
            source=f"MTU {mtu}, {speed}",
            severity=Severity.WATCH if small else Severity.GOOD,
            cost="jumbo frames need a sixth of the packets" if small else "",
            remedies=_remedies(
                f"ip link set dev {name} mtu 9000, if every device on the path supports it"
                if small
                else ""
            ),
        )


def _cores(settings: Settings) -> Iterator[Finding]:
    single = settings.cores == 1
    yield Finding(
        what="cores",
        source=str(settings.cores),
        severity=Severity.WATCH if single else Severity.GOOD,
        cost="one core has to run the tool, the protocol and the interrupts" if single else "",
        remedies=_remedies("let the advisor run on more than one core" if single else ""),
    )


def _remedies(line: str) -> tuple[Remedy, ...]:
    return (Remedy(None, line),) if line else ()
