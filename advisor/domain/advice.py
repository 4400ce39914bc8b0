"""What the advisor hands over."""

from typing import Literal

import msgspec

from advisor.domain.endpoints import Pair
from advisor.domain.space import Setting

Side = Literal["source", "destination"]
CameTrue = Literal["within", "above", "below"]


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


class Subsystem(msgspec.Struct, frozen=True, kw_only=True):
    """One of the three that a transfer of files goes through, profiled alone.

    `what`: source disk, network or destination disk. `throughput_bps`: the best it gave, with
    `setting`. `by_flows`: its best at each number of threads or streams that was measured.
    """

    what: str
    throughput_bps: float
    setting: Setting
    by_flows: dict[int, float] = {}


class Composition(msgspec.Struct, frozen=True, kw_only=True):
    """What the subsystems alone would let pass, beside what the transfer of files reaches.

    Rao et al. 2016, section I: the minimum of the subsystems' maxima, which the joint rate may stay
    well under. `predicted_bps`: that minimum. `joint_bps`: what is expected of the advised setting.
    """

    subsystems: list[Subsystem]
    predicted_bps: float
    joint_bps: float

    @property
    def limiting(self) -> str:
        """The subsystem that lets the least pass."""
        return min(self.subsystems, key=lambda s: s.throughput_bps).what

    @property
    def reached(self) -> float:
        """The joint rate as a share of what the composition predicts."""
        return self.joint_bps / self.predicted_bps


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
    `transfer_s`: how long the dataset takes, None without one. `composition`: where a tool was
    profiled from disk to disk; `transport` is that tool's name then, the throughputs are those of
    the whole dataset with all that it takes to begin and end, and `default_bps` is that of the
    tool's own default.
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
    composition: Composition | None = None


class Fulfilment(msgspec.Struct, frozen=True, kw_only=True):
    """What a real transfer gave beside what a session's advice had promised for it.

    `advised_s`: Unix time of the advice. Rates in bit/s.
    """

    session: str
    advised_s: float
    interval_bps: tuple[float, float]
    rate_bps: float

    @property
    def came_true(self) -> CameTrue:
        """Where the rate lies to the interval."""
        return came_true(self.rate_bps, self.interval_bps)


def came_true(rate_bps: float, interval_bps: tuple[float, float]) -> CameTrue:
    """Where a rate lies to an interval, whose ends belong to it."""
    lower_bps, upper_bps = interval_bps
    if rate_bps < lower_bps:
        return "below"
    return "above" if rate_bps > upper_bps else "within"
