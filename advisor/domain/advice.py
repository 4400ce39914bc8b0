"""What the advisor hands over."""

from typing import Literal

import msgspec

from advisor.domain.endpoints import Pair
from advisor.domain.space import Setting

Side = Literal["source", "destination"]


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """One line to run. `argv` is what is executed; `shell` is the same, quoted for a shell.

    `side`: the host to run it on. `note`: what must hold for it to work, "" when nothing.
    """

    tool: str
    side: Side
    argv: list[str]
    shell: str
    note: str = ""


class Estimate(msgspec.Struct, frozen=True):
    """A value with its 90 % interval, in the unit of the field that holds it."""

    value: float
    interval: tuple[float, float]


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """Something on a host or the path that holds the transfer back, and the line that lifts it.

    `side` is None for the path itself. `remedy` is a command or a sentence, never applied here.
    """

    what: str
    side: Side | None
    remedy: str
    ceiling_bps: float | None = None


class Contender(msgspec.Struct, frozen=True, kw_only=True):
    """One setting in the closing comparison.

    `role`: best, rival, frugal, default or globus default; `throughput`: bit/s, mean with its 90 %
    interval; `probes`: how many measurements it stands on.
    """

    role: str
    transport: str
    setting: Setting
    throughput: Estimate
    probes: int


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """Transport and setting recommended, what to expect of it, and the reasons.

    `interval_bps`: where a further transfer's throughput is expected nine times out of ten.
    `default_bps`: one TCP stream with the kernel's own buffers, None when it was not measured.
    `gain`: expected over default throughput, 1.0 meaning the same; None without a default.
    `transfer_s`: how long the dataset takes, None without one.
    """

    pair: Pair
    transport: str
    setting: Setting
    expected_bps: float
    interval_bps: tuple[float, float]
    default_bps: float | None
    gain: Estimate | None
    limits: list[Limit]
    reasons: list[str]
    commands: list[Command]
    contenders: list[Contender]
    incomplete: bool
    session: str
    basis: Literal["measured", "history"] = "measured"
    transfer_s: Estimate | None = None
