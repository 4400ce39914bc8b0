"""Parameters, the space they span, and settings, the points of that space."""

import math
from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Annotated, Final, TypeAlias

import msgspec

from advisor.domain.bounded import Size, Whole
from advisor.domain.quantities import format_bytes

SettingValue: TypeAlias = Whole | Size | Annotated[str, msgspec.Meta(max_length=64)]
Setting: TypeAlias = dict[str, SettingValue]
"""One point of a space, by parameter name, including what the transport holds fixed.

A `buffer_bytes` of 0 leaves the kernel's buffer sizing (autotuning) in effect: what an untuned
program gets.
"""

SettingKey: TypeAlias = tuple[tuple[str, SettingValue], ...]

BUFFER: Final = "buffer_bytes"
"""The buffer of each flow at both ends, which holds what is on the way."""

AUTOMATIC: Final = 0
"""The value of an automatic parameter that leaves it to the kernel."""

_MOST_COUNTED: Final = 2**20

_LINEAR_STEPS: Final = 24
"""Steps of a size on a linear scale, as between the 25 places of ProbData's iterative range."""

FLOW_NAMES: Final = frozenset({"concurrency", "parallelism", "streams"})
"""Parameters whose product is the number of flows, whatever the plugin. A transport may name one
more in its traits: see `advisor.traits.flow_names`."""

PROCESSES: Final = "processes"
"""The number of processes of the sending and of the receiving program that the flows of a setting
are spread over, evenly; a setting without it has one. It never exceeds the number of flows."""

_WORD_ORDER: Final = (
    "concurrency",
    "parallelism",
    "streams",
    PROCESSES,
    "pipelining",
    "chunk_bytes",
    "outstanding",
    "threads",
    "request_bytes",
    "direct",
    "stripes",
    "block_bytes",
    "buffer_bytes",
    "mss_bytes",
    "congestion",
)

_COUNTED: Final = {
    "concurrency": ("file", " at a time"),
    "parallelism": ("stream", " each"),
    "streams": ("stream", ""),
    PROCESSES: ("process", ""),
    "outstanding": ("request", " outstanding for each"),
    "threads": ("thread", ""),
    "stripes": ("stripe", ""),
}
_SIZED: Final = {
    "chunk_bytes": "parts",
    "request_bytes": "requests",
    "block_bytes": "blocks",
    "buffer_bytes": "buffers",
}


def setting_key(setting: Mapping[str, SettingValue]) -> SettingKey:
    """A hashable form of the setting that does not depend on the order of its names."""
    return tuple(sorted(setting.items()))


def _value_words(name: str, value: SettingValue) -> str:
    match name, value:
        case "buffer_bytes", 0:
            return "the kernel's own buffers"
        case "mss_bytes", int(size):
            return f"packets of {size} B"
        case "pipelining", 0 | 1:
            return "without pipelining" if value else "with pipelining"
        case "options", "none":
            return "no options"
        case "stripes", 0:
            return "the folder's stripes"
        case "direct", 0 | 1:
            return "direct I/O" if value else "buffered I/O"
        case "congestion", str(control):
            return control
    if isinstance(value, int) and name in _COUNTED:
        what, tail = _COUNTED[name]
        plural = "es" if what.endswith("s") else "s"
        return f"{value} {what}{'' if value == 1 else plural}{tail}"
    if isinstance(value, int) and name in _SIZED:
        return f"{format_bytes(value)} {_SIZED[name]}"
    return f"{name} {value}"


def setting_words(setting: Mapping[str, SettingValue]) -> str:
    """A setting in words: `8 streams, 4 MiB buffers, cubic`. Of an empty one it says so."""
    if not setting:
        return "setting not known"
    known = [name for name in _WORD_ORDER if name in setting]
    names = [*known, *(name for name in setting if name not in known)]
    return ", ".join(_value_words(name, setting[name]) for name in names)


def last_doubling(most: int) -> int:
    """The largest power of two up to a number; 1 for less than 2."""
    return 1 << (max(1, most).bit_length() - 1)


class Scale(StrEnum):
    """How a parameter's values are spaced between its bounds."""

    LINEAR = "linear"
    LOG2 = "log2"


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """One control knob.

    `lower` and `upper` are inclusive and in `unit`. `quantum` is the profiling unit μ of the
    papers: every value, including the bounds, is a multiple of it (one payload for a block size,
    one byte for a buffer, one for streams).

    `automatic`: the value 0 leaves the parameter to the kernel. It lies one step above the upper
    bound, as a buffer that grows as far as it is needed. With equal bounds it is a choice of two,
    as between direct I/O and the page cache. `only_bounds`: nothing between the bounds is a value,
    as of the stripe counts 2 and 8 in Rao et al. 2016; such a parameter is never automatic.
    """

    name: str
    unit: str
    lower: int
    upper: int
    scale: Scale = Scale.LINEAR
    quantum: int = 1
    # Unset, it is not written: events of versions without it are written as they were.
    automatic: bool | msgspec.UnsetType = msgspec.UNSET
    only_bounds: bool | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        if self.quantum < 1 or not 1 <= self.lower <= self.upper:
            raise ValueError(f"{self.name}: bounds {self.lower}..{self.upper} by {self.quantum}")
        if self.lower % self.quantum or self.upper % self.quantum:
            raise ValueError(f"{self.name}: bounds are not multiples of {self.quantum}")

    def value_at(self, fraction: float) -> int:
        """The value at `fraction` in [0, 1] between lower and upper on this scale.

        Of an automatic parameter, 1 and the last half step before it are the automatic value.
        """
        step = self._automatic_step
        if self.automatic and fraction > 1 - step / 2:
            return AUTOMATIC
        if self.lower == self.upper:
            return self.lower
        fraction = min(1.0, max(0.0, fraction / (1 - step)))
        if self.scale is Scale.LOG2:
            raw = self.lower * (self.upper / self.lower) ** fraction
        else:
            raw = self.lower + (self.upper - self.lower) * fraction
        return self.nearest(raw)

    def nearest(self, value: float) -> int:
        """The parameter value nearest to `value`: a multiple of the quantum, within the bounds.

        0 is the automatic value, where there is one.
        """
        if self.automatic and value == AUTOMATIC:
            return AUTOMATIC
        if self.only_bounds:
            return self.lower if self.fraction_of(value) < 0.5 else self.upper
        multiple: int = round(value / self.quantum) * self.quantum
        return min(self.upper, max(self.lower, multiple))

    def fraction_of(self, value: float) -> float:
        """The position of `value` on this scale, clipped to [0, 1]: the reverse of `value_at`."""
        if self.automatic and value == AUTOMATIC:
            return 1.0
        if self.upper == self.lower:
            return 0.0
        explicit = 1 - self._automatic_step
        clipped = min(self.upper, max(self.lower, value))
        if self.scale is Scale.LOG2:
            return explicit * math.log2(clipped / self.lower) / math.log2(self.upper / self.lower)
        return explicit * (clipped - self.lower) / (self.upper - self.lower)

    @property
    def _automatic_step(self) -> float:
        """The distance of the automatic value from the upper bound; 0 where there is none."""
        if not self.automatic:
            return 0.0
        if self.lower == self.upper:
            return 1.0
        octaves = math.log2(self.upper / self.lower)
        return 1 / (1 + (octaves if self.scale is Scale.LOG2 else _LINEAR_STEPS))

    @property
    def is_choice(self) -> bool:
        """Whether it has two values: one, and the automatic one."""
        return bool(self.automatic) and self.lower == self.upper

    def contains(self, value: float) -> bool:
        """Whether the value is within the bounds, or the automatic one."""
        if self.only_bounds:
            return value in (self.lower, self.upper)
        return self.lower <= value <= self.upper or bool(self.automatic and value == AUTOMATIC)

    def doubled(self, value: int) -> int:
        """Twice the value, at most the upper bound; from there to the automatic value."""
        if self.automatic and value in (AUTOMATIC, self.upper):
            return AUTOMATIC
        return self.upper if self.only_bounds else self.nearest(2 * value)

    def halved(self, value: int) -> int:
        """Half the value, at least the lower bound; from the automatic value the upper bound."""
        if self.automatic and value == AUTOMATIC:
            return self.upper
        return self.lower if self.only_bounds else self.nearest(max(1, value // 2))


class Space(msgspec.Struct, frozen=True, kw_only=True):
    """The box a method searches.

    `cost_order` names parameters, the most expensive first: of two settings with the same
    performance, the one with less of the first parameter is cheaper, then of the second, and so on.
    `fixed`: what every setting of this space also contains (congestion control, MSS).
    `note`: a sentence for the user on how the bounds were chosen.
    `most_flows`: upper limit of `flows_of` a setting, None for no limit. Settings beyond it are no
    points of the space; `bounded` projects onto it. Raises ValueError where no setting is within.
    """

    parameters: tuple[Parameter, ...]
    cost_order: tuple[str, ...]
    fixed: Setting = msgspec.field(default_factory=dict)
    note: str = ""
    most_flows: int | None = None

    def __post_init__(self) -> None:
        least = {p.name: p.lower for p in self.parameters} | self.fixed
        if not self.allows(least):
            raise ValueError(f"{setting_words(least)} are more than {self.most_flows} flows")

    @property
    def names(self) -> set[str]:
        """What every setting has a value for: the parameters, and what is fixed."""
        return {p.name for p in self.parameters} | set(self.fixed)

    @property
    def dimensions(self) -> int:
        """The number of parameters to search."""
        return len(self.parameters)

    def setting_at(self, fractions: Mapping[str, float]) -> Setting:
        """The setting at these fractions between the bounds, one per parameter, `bounded`."""
        values = {p.name: p.value_at(fractions[p.name]) for p in self.parameters}
        return self.bounded(values | self.fixed)

    def allows(self, setting: Mapping[str, SettingValue]) -> bool:
        """Whether a setting has no more flows than the space may have."""
        return self.most_flows is None or flows_of(setting) <= self.most_flows

    def bounded(self, setting: Setting) -> Setting:
        """The setting, or its projection onto the flows that the space may have.

        Parallelism is reduced first: "varying parallelism values have only a minor impact on the
        throughput" (Balaprakash et al. 2016, section IV.B). If its lower bound is still too much,
        the other flow parameters follow.
        """
        if self.most_flows is None or self.allows(setting):
            return setting
        bounded = dict(setting)
        counted = [p for p in self.parameters if p.name in FLOW_NAMES]
        for parameter in sorted(counted, key=lambda p: p.name != "parallelism"):
            others = flows_of({k: v for k, v in bounded.items() if k != parameter.name})
            most = self.most_flows // others // parameter.quantum * parameter.quantum
            value = min(int(bounded[parameter.name]), max(parameter.lower, most))
            bounded[parameter.name] = value
        return bounded

    def holds(self, setting: Mapping[str, SettingValue]) -> bool:
        """Whether a setting is a point of this space."""
        values = [(p, setting.get(p.name)) for p in self.parameters]
        return (
            set(setting) == self.names
            and all(setting[name] == value for name, value in self.fixed.items())
            and all(isinstance(v, int | float) and p.contains(v) for p, v in values)
            and self.allows(setting)
        )

    def cost(self, setting: Mapping[str, SettingValue]) -> tuple[float, ...]:
        """A sort key: smaller is cheaper.

        Unknown names and kernel-sized buffers cost nothing.
        """
        values = (setting.get(name, 0) for name in self.cost_order)
        return tuple(float(v) if not isinstance(v, str) else 0.0 for v in values)


def flows_of(setting: Mapping[str, SettingValue], flow_names: Collection[str] = FLOW_NAMES) -> int:
    """The number of connections a setting opens: the product of its flow parameters; at least 1."""
    return math.prod(_count(value) for name, value in setting.items() if name in flow_names)


def processes_of(setting: Mapping[str, SettingValue]) -> int:
    """The number of processes that the flows of a setting are spread over; at least 1."""
    return _count(setting.get(PROCESSES, 1))


def concurrency_of(setting: Mapping[str, SettingValue]) -> int:
    """The number of files that are moved at the same time; at least 1."""
    return _count(setting.get("concurrency", 1))


def parallelism_of(setting: Mapping[str, SettingValue]) -> int:
    """The number of streams for each file; at least 1."""
    return _count(setting.get("parallelism", 1))


def _count(value: SettingValue) -> int:
    """A stored setting may have anything in the place of a number."""
    return 1 if isinstance(value, str) else max(1, int(value))


def stored_count(setting: Mapping[str, SettingValue], name: str) -> int | None:
    """A whole number of a stored setting, from 0 to 2^20; None for whatever else it may have."""
    value = setting.get(name)
    return value if isinstance(value, int) and 0 <= value <= _MOST_COUNTED else None


def spread_over_processes(setting: Setting, flow_parameter: str) -> list[Setting]:
    """What each process of a setting runs: its part of the flows, everything else as it is.

    `flow_parameter`: the one that counts the flows. No part is more than one flow larger than
    another. Raises ValueError for more processes than flows.
    """
    processes, flows = processes_of(setting), int(setting.get(flow_parameter, 1))
    if processes > flows:
        raise ValueError(f"{flows} flows cannot be spread over {processes} processes")
    rest = {name: value for name, value in setting.items() if name != PROCESSES}
    each, more = divmod(flows, processes)
    return [rest | {flow_parameter: each + (part < more)} for part in range(processes)]


class Baseline(msgspec.Struct, frozen=True):
    """A default to compare with: `role` is `default` or `Globus default`."""

    role: str
    setting: Setting
