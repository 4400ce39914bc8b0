"""The ask/tell interface of every search method."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import msgspec
import numpy as np

from advisor.domain.availability import Availability
from advisor.domain.dataset import Dataset
from advisor.domain.events import StopGauge
from advisor.domain.evidence import Evidence
from advisor.domain.measurement import Outcome
from advisor.domain.path import PathFacts
from advisor.domain.records import ProbeRecord
from advisor.domain.space import FLOW_NAMES, Setting, Space
from advisor.domain.transfers import Levels, PastTransfer


class PastSurface(msgspec.Struct, frozen=True, kw_only=True):
    """The measurements under one set of conditions: `rates_bps[i]` at `settings[i]`.

    They are of this path or another. `repeats[i]`: the number of probes behind that mean.
    `file_bytes`: mean size of the files moved, None where nothing was moved from a disk.
    `same_pair`: measured between these two hosts.
    """

    settings: list[Setting]
    rates_bps: list[float]
    repeats: list[int]
    file_bytes: float | None = None
    same_pair: bool = False


class Knowledge(msgspec.Struct, frozen=True, kw_only=True):
    """What is known before the first probe. Most methods use little of it.

    `bandwidth_bps`: upper bound of the rate, None when not known. `past`: stored measurements of
    this pair, newest last; a reference profile's where the user has none. `dataset`: the files to
    move, None where not given. `surfaces`: measurements under other conditions and on other paths.
    `transfers`: all past file transfers between any hosts, for methods that select the similar
    ones themselves. `start`: where a search starts that would otherwise start at Globus's default,
    the papers' x_0; None keeps that default. `flow_names`: the parameters that count flows.
    """

    path: PathFacts | None = None
    bandwidth_bps: float | None = None
    past: list[ProbeRecord] = []
    dataset: Dataset | None = None
    surfaces: tuple[PastSurface, ...] = ()
    transfers: Sequence[PastTransfer] = ()
    start: Levels | None = None
    flow_names: frozenset[str] = FLOW_NAMES

    @property
    def mean_file_bytes(self) -> float | None:
        """The mean size of the files to move; None where they were not counted."""
        if self.dataset is None or not self.dataset.files:
            return None
        return self.dataset.total_bytes / self.dataset.files

    @property
    def bdp_bytes(self) -> float | None:
        """Bytes in flight on a full path, rate × RTT; None where either is unknown."""
        if self.path is None:
            return None
        rate_bps = self.bandwidth_bps or self.path.capacity_bps
        return rate_bps * self.path.rtt_s / 8 if rate_bps and self.path.rtt_s > 0 else None


class Constant(msgspec.Struct, frozen=True, kw_only=True):
    """A constant of a method that a user may set; its bounds are inclusive."""

    name: str
    default: float
    lower: float
    upper: float
    meaning: str
    integer: bool = False

    def checked(self, value: float) -> float:
        """The value, if it is within bounds; raises ValueError with a message otherwise."""
        if reason := self.why_not(value):
            raise ValueError(f"{self.name}: {reason}")
        return value

    def why_not(self, value: float) -> str:
        """Why the constant cannot have this value; "" if it can."""
        if not self.lower <= value <= self.upper:
            return f"{value:g} is not from {self.lower:g} to {self.upper:g}"
        if self.integer and value != int(value):
            return f"{value:g} is not a whole number"
        return ""


class Method(Protocol):
    """A search, as a state machine that never waits: it asks for settings and receives outcomes.

    Calls alternate: `ask`, `tell`, `ask`, `tell` … `ask` returns None once `stop_reason` is set.
    Asking twice without telling returns the same setting.
    """

    @property
    def iteration(self) -> int:
        """The number of complete iterations."""

    @property
    def label(self) -> str:
        """The purpose of the last asked setting, in the method's notation (y+, y−, y*), or ""."""

    @property
    def stop_reason(self) -> str | None:
        """A sentence that says why the search ended; None while it runs."""

    @property
    def move_reason(self) -> str | None:
        """A sentence for the step that the last `tell` caused; None when it caused none."""

    @property
    def gauges(self) -> list[StopGauge]:
        """How near the search is to each of its stop conditions."""

    def ask(self) -> Setting | None:
        """The setting to measure next, or None when the search has ended."""

    def tell(self, setting: Setting, outcome: Outcome) -> None:
        """Process the outcome of that setting. A failure is an answer too."""

    def best(self) -> tuple[Setting, float] | None:
        """The best measured setting and its throughput in bit/s; None before any measurement."""

    def recommended(self) -> tuple[Setting, float] | None:
        """The setting to use in the present state, and its expected throughput in bit/s.

        It has been measured. It is not always the best measurement, which may be a chance outlier
        or predate a change of the path. None before any measurement.
        """

    def state(self) -> dict[str, Any]:
        """All that is needed to continue, as plain JSON values."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state returned by `state`, in a method made for the same space."""


@runtime_checkable
class WithEvidence(Protocol):
    """A method that can show which past transfers it relies on. Most have nothing to show."""

    @property
    def evidence(self) -> Evidence | None:
        """The evidence as weighed last; None before. Not part of the state."""


@runtime_checkable
class WithSample(Protocol):
    """A method that compares one of its own probes with past transfers.

    Their rates are those while data flowed. What `tell` gives of a tool is the rate of the whole
    dataset, with the time that the tool needs to begin and to end.
    """

    def measured(self, outcome: Outcome) -> None:
        """Take the outcome that `tell` is about to give, as it was measured."""


@runtime_checkable
class WithRepeats(Protocol):
    """A method that may want a setting measured again whose outcome it has had."""

    @property
    def wants_repeat(self) -> bool:
        """Whether the setting last asked is to be measured even if it has been before."""


@runtime_checkable
class WithWatch(Protocol):
    """A method that never ends: once it has settled it watches its setting."""

    @property
    def watches(self) -> bool:
        """Whether it has settled, and the setting last asked is only watched."""


@runtime_checkable
class WithMovableSpace(Protocol):
    """A method that can continue in a space with the same parameters and other bounds."""

    def move_to(self, space: Space) -> None:
        """Search here from now on; what was measured counts as before."""


Expected: TypeAlias = Callable[[Sequence[Setting]], Sequence[float]]
"""The rates in bit/s that a model of the transfer expects of settings, as far as is known now."""


@runtime_checkable
class WithExpectation(Protocol):
    """A method that can start from a model of what it tunes and follow it as it is fitted."""

    def expect(self, expected: Expected) -> None:
        """Take what is expected before the first `ask`, and again after every `tell`."""


@runtime_checkable
class WithBelief(Protocol):
    """A method that estimates what another probe would gain, and learns from probes of others."""

    def learn(self, setting: Setting, outcome: Outcome) -> None:
        """Take the outcome of a setting of its space that it did not ask for."""

    def expected_gain(self, best_bps: float, least: float) -> float:
        """What its most promising probe is expected to gain over this rate, as a log rate.

        The part beyond `least` counts, a log rate too; 0 for a search that is over.
        """


@runtime_checkable
class MethodPlugin(Protocol):
    """How a method is found and made: what a file in plugins/methods exports as `plugin`."""

    @property
    def name(self) -> str:
        """The name on the command line."""

    @property
    def summary(self) -> str:
        """One line for `advisor plugins`."""

    @property
    def constants(self) -> tuple[Constant, ...]:
        """The constants a user may set."""

    def available(self) -> Availability:
        """Whether it can run on this host."""

    def create(
        self,
        space: Space,
        rng: np.random.Generator,
        knowledge: Knowledge,
        constants: Mapping[str, float],
    ) -> Method:
        """Make a new search.

        Constants not given take their defaults; raises ValueError for an invalid one.
        """
