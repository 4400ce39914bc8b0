"""The ask/tell interface every search method has."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import msgspec
import numpy as np

from advisor.domain.availability import Availability
from advisor.domain.dataset import Dataset
from advisor.domain.events import StopGauge
from advisor.domain.evidence import Evidence
from advisor.domain.measurement import Outcome
from advisor.domain.path import PathFacts
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting, Space
from advisor.domain.traits import Traits
from advisor.domain.transfers import Levels, PastTransfer


class PastSurface(msgspec.Struct, frozen=True, kw_only=True):
    """What one condition of a path, this or another, gave: `rates_bps[i]` at `settings[i]`.

    `repeats[i]`: how many probes that mean stands on. `file_bytes`: mean size of the files moved,
    None where nothing was moved from a disk. `same_pair`: measured between these two hosts.
    """

    settings: list[Setting]
    rates_bps: list[float]
    repeats: list[int]
    file_bytes: float | None = None
    same_pair: bool = False


class Knowledge(msgspec.Struct, frozen=True, kw_only=True):
    """What is known before the first probe. Most methods ignore most of it.

    `bandwidth_bps`: the rate nothing can pass, None when not known. `past`: stored measurements of
    this pair, newest last; a reference profile's where the user has none. `dataset`: the files to
    move, None where it was not said. `surfaces`: what other conditions and paths gave.
    `transfers`: all transfers of files there were between any hosts, for methods that find out by
    themselves which of them are alike. `start`: where a search is to begin that would begin at
    Globus's default, the papers' x_0; None leaves it there.
    """

    path: PathFacts | None = None
    bandwidth_bps: float | None = None
    past: list[ProbeRecord] = []
    dataset: Dataset | None = None
    surfaces: tuple[PastSurface, ...] = ()
    transfers: Sequence[PastTransfer] = ()
    start: Levels | None = None

    @property
    def mean_file_bytes(self) -> float | None:
        """The mean size of the files to move; None where they were not counted."""
        if self.dataset is None or not self.dataset.files:
            return None
        return self.dataset.total_bytes / self.dataset.files

    @property
    def bdp_bytes(self) -> float | None:
        """What is under way on a full path, rate × RTT in bytes; None where either is unknown."""
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
        """The value, if it is within bounds; raises ValueError with a sentence otherwise."""
        if not self.lower <= value <= self.upper:
            raise ValueError(f"{self.name} is {value:g}: give {self.lower:g} to {self.upper:g}")
        if self.integer and value != int(value):
            raise ValueError(f"{self.name} is {value:g}: give a whole number")
        return value


class Method(Protocol):
    """A search, as a state machine that never waits: asked for a setting, told what it gave.

    Calls alternate: `ask`, `tell`, `ask`, `tell` … `ask` returns None once `stop_reason` is set.
    Asking twice without telling returns the same setting.
    """

    @property
    def iteration(self) -> int:
        """How many whole iterations are over."""

    @property
    def label(self) -> str:
        """What the setting last asked is for, in the method's own sign (y+, y−, y*), or ""."""

    @property
    def stop_reason(self) -> str | None:
        """A sentence that says why the search is over; None while it goes on."""

    @property
    def move_reason(self) -> str | None:
        """A sentence for the step the last `tell` led to; None when it led to none."""

    @property
    def gauges(self) -> list[StopGauge]:
        """How near the search is to each of its conditions for stopping."""

    def ask(self) -> Setting | None:
        """The setting to measure next, or None when the search is over."""

    def tell(self, setting: Setting, outcome: Outcome) -> None:
        """What that setting gave. A failure is an answer too."""

    def best(self) -> tuple[Setting, float] | None:
        """The best setting measured and its throughput in bit/s; None before any."""

    def recommended(self) -> tuple[Setting, float] | None:
        """The setting to use, as the search stands, and what it expects of it in bit/s.

        One that was measured; not always the best measurement, which may have been luck or be from
        before the path changed. None before any.
        """

    def state(self) -> dict[str, Any]:
        """All that is needed to go on, as plain JSON values."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state that `state` gave, in a method made from the same space."""


class MethodTraits(Traits, frozen=True, kw_only=True):
    """What a method tells about itself; each field has a default."""


@runtime_checkable
class WithEvidence(Protocol):
    """A method that can show which past transfers it goes by. Most have nothing to show."""

    @property
    def evidence(self) -> Evidence | None:
        """What they say, as it was weighed last; None before. Not part of the state."""


@runtime_checkable
class MethodPlugin(Protocol):
    """How a method is found and made: what a file in plugins/methods offers as `plugin`."""

    @property
    def name(self) -> str:
        """The name on the command line."""

    @property
    def summary(self) -> str:
        """One line for `advisor plugins`."""

    @property
    def constants(self) -> tuple[Constant, ...]:
        """What a user may set."""

    def available(self) -> Availability:
        """Whether it can run here."""

    def create(
        self,
        space: Space,
        rng: np.random.Generator,
        knowledge: Knowledge,
        constants: Mapping[str, float],
    ) -> Method:
        """A new search.

        Constants not given take their defaults; raises ValueError for a bad one.
        """
