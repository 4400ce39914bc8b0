"""Advice: the recommended setting, the expected throughput and the reasons."""

from typing import Final, Literal

import msgspec

from advisor.domain.bounded import Figure, Whole
from advisor.domain.connection import Connection
from advisor.domain.endpoints import Pair
from advisor.domain.file_io import NETWORK, TOOL_IN_MEMORY
from advisor.domain.printable import escape_fields, is_printable
from advisor.domain.shell import shell_line
from advisor.domain.space import Setting

Side = Literal["source", "destination"]
CameTrue = Literal["within", "above", "below"]

ABOUT_ALL: Final = 0.9
"""From this fraction of a rate on, whatever has it counts as saturated."""

NINE_OF_TEN: Final = 1.645
"""Standard deviations on either side that hold nine tenths of a normal distribution, the share
that all intervals of advice are for."""


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """One line to run. `argv` is what is executed; `shell` is the same, quoted for a shell.

    `side`: the host to run it on. `note`: a condition for it to work, "" for none. Both lines are
    made printable: a `shell` that is not, whoever wrote it, is built again from `argv`.
    """

    tool: str
    side: Side
    argv: list[str]
    shell: str
    note: str = ""

    def __post_init__(self) -> None:
        escape_fields(self, ("tool", "note"))
        if not is_printable(self.shell):
            msgspec.structs.force_setattr(self, "shell", shell_line(self.argv))


class Estimate(msgspec.Struct, frozen=True):
    """A value with its 90 % interval, in the unit of the field that holds it."""

    value: Figure
    interval: tuple[Figure, Figure]


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """Something on a host or the path that limits the transfer, and how to lift the limit.

    `side` is None for the path itself. `remedy` is a command or a sentence; it is never applied
    here. `ceiling_bps`: the throughput that it limits the transfer to.
    """

    what: str
    side: Side | None
    remedy: str
    ceiling_bps: Figure | None = None

    def __post_init__(self) -> None:
        escape_fields(self, ("what", "remedy"))


class Subsystem(msgspec.Struct, frozen=True, kw_only=True):
    """One of the four subsystems of a file transfer, profiled alone.

    `what`: source disk, network, tool memory to memory, or destination disk. `throughput_bps`: its
    best throughput, reached at `setting`. `by_flows`: its best at each measured number of threads
    or streams.
    """

    what: str
    throughput_bps: Figure
    setting: Setting
    by_flows: dict[Whole, Figure] = {}


class Composition(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the subsystems achieve alone, compared with what the file transfer achieves.

    Rao et al. 2016, section I: the minimum of the subsystems' maxima, which the joint rate may fall
    well below. `predicted_bps`: that minimum. `joint_bps`: the expectation for the advised setting.
    `absent`: why a subsystem was not measured, by its name.
    """

    subsystems: list[Subsystem]
    predicted_bps: Figure
    joint_bps: Figure
    absent: dict[str, str] = {}

    @property
    def limiting(self) -> str:
        """The slowest subsystem.

        The tool's data pass the network too: where it is about as fast, the network limits it.
        """
        slowest = min(self.subsystems, key=lambda s: s.throughput_bps)
        network_bps = self.alone_bps(NETWORK)
        if slowest.what == TOOL_IN_MEMORY and network_bps is not None:
            return NETWORK if slowest.throughput_bps >= ABOUT_ALL * network_bps else slowest.what
        return slowest.what

    def alone_bps(self, what: str) -> float | None:
        """The throughput of a subsystem alone; None where it was not measured."""
        return next((s.throughput_bps for s in self.subsystems if s.what == what), None)

    @property
    def reached(self) -> float:
        """The joint rate as a fraction of the predicted rate."""
        return self.joint_bps / self.predicted_bps


class Contender(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One setting in the closing comparison.

    `role`: best, rival, frugal, default or Globus default, see `role_words`. `throughput`: mean
    in bit/s with its 90 % interval. `probes`: the number of measurements behind it. `ratio`: its
    rate over that of the advised setting; None for that setting itself, and in advice of earlier
    versions.
    """

    role: str
    subject: str = msgspec.field(name="transport")
    setting: Setting
    throughput: Estimate
    probes: Whole
    ratio: Estimate | None = None


_ROLE_WORDS: Final = {"rival": "runner-up", "frugal": "cheaper setting"}


def role_words(role: str) -> str:
    """The role of a contender in the words of a reader; that of a default is its own."""
    return _ROLE_WORDS.get(role, role)


class ConnectionShare(msgspec.Struct, frozen=True, kw_only=True):
    """One of several connections, alone and while all of them send. Rates in bit/s."""

    connection: Connection
    subject: str = msgspec.field(name="transport")
    setting: Setting
    alone: Estimate
    at_once: Estimate

    @property
    def name(self) -> str:
        """`eth1 to eth0`; addresses where the interfaces are not known."""
        return self.connection.words


class AtOnce(msgspec.Struct, frozen=True, kw_only=True):
    """What several connections reach together, each at the best setting it has alone.

    `total_bps`: the mean of their sum, with the interval of one more measurement; `rounds`: the
    number of measurements. `gain`: the total over the best connection alone. `adds`: whether the
    total is clearly more than that; `settled`: whether more measurements would not change that.
    `parts`: in the order in which they were asked for.
    """

    parts: list[ConnectionShare]
    total_bps: Estimate
    rounds: Whole
    gain: Estimate
    adds: bool
    settled: bool

    @property
    def sum_bps(self) -> float:
        """What they would reach if none took anything from another: the sum of each alone."""
        return sum(part.alone.value for part in self.parts)

    @property
    def best(self) -> ConnectionShare:
        """The one that reaches most alone."""
        return max(self.parts, key=lambda part: part.alone.value)


class ToolCeiling(msgspec.Struct, frozen=True, kw_only=True):
    """The tool of the printed line reaches less on these hosts than the network gives.

    `ceiling_bps`: what it reached from memory to memory. `network`: what the setting reaches with
    the transport's own program, in bit/s.
    """

    tool: str
    ceiling_bps: Figure
    network: Estimate


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """The recommended setting of a subject, the expected throughput, and the reasons.

    `interval_bps`: 90 % prediction interval for the throughput of a further transfer.
    `default_bps`: one TCP stream with the kernel's default buffers, None when it was not measured.
    `gain`: expected over default throughput, 1.0 for no gain; None without a default.
    `transfer_s`: duration for the dataset, None without one. `composition`: present where a tool
    was profiled from disk to disk; the subject is then the tool, the throughputs are those
    of the whole dataset including start-up and closing, and `default_bps` is that of the tool's
    own default. `at_once`: present where several connections were measured; the other fields are
    then about the one that is best alone, but `commands` and `transfer_s` are for all of them if
    that `adds` anything. `tool_ceiling`: present where the tool of the first line is what limits;
    expectation, default, gain and duration are then the tool's.
    """

    pair: Pair
    subject: str = msgspec.field(name="transport")
    setting: Setting
    expected_bps: Figure
    interval_bps: tuple[Figure, Figure]
    default_bps: Figure | None
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
    # Unset, it is not written: records of versions without it are written as they were.
    at_once: AtOnce | msgspec.UnsetType = msgspec.UNSET
    tool_ceiling: ToolCeiling | msgspec.UnsetType = msgspec.UNSET

    @property
    def overall_bps(self) -> Estimate:
        """What a transfer that follows it reaches: over all connections, if that adds anything."""
        if self.at_once and self.at_once.adds:
            return self.at_once.total_bps
        return Estimate(self.expected_bps, self.interval_bps)

    @property
    def further_gains(self) -> dict[str, Estimate]:
        """The gain over every default besides the first, by its role: `default with …`."""
        return {
            one.role: Estimate(
                1 / one.ratio.value, (1 / one.ratio.interval[1], 1 / one.ratio.interval[0])
            )
            for one in self.contenders
            if one.ratio and one.role.startswith("default ")
        }


class PriorAdvice(msgspec.Struct, frozen=True, kw_only=True):
    """The advice of an earlier session that a transfer starts with and is compared with.

    `advised_s`: Unix time of the advice. Rates in bit/s.
    """

    session: str
    subject: str = msgspec.field(name="transport")
    setting: Setting
    advised_s: Figure
    expected_bps: Figure
    interval_bps: tuple[Figure, Figure]


class Fulfilment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The throughput of a real transfer compared with the interval a session's advice predicted.

    `subject`: what was advised, "" where it is not known. `advised_s`: Unix time of the advice.
    Rates in bit/s.
    """

    session: str
    subject: str = msgspec.field(name="transport", default="")
    advised_s: Figure
    interval_bps: tuple[Figure, Figure]
    rate_bps: Figure

    @property
    def came_true(self) -> CameTrue:
        """Where the rate lies relative to the interval."""
        return came_true(self.rate_bps, self.interval_bps)


def came_true(rate_bps: float, interval_bps: tuple[float, float]) -> CameTrue:
    """Where a rate lies relative to an interval, whose ends are included."""
    lower_bps, upper_bps = interval_bps
    if rate_bps < lower_bps:
        return "below"
    return "above" if rate_bps > upper_bps else "within"
