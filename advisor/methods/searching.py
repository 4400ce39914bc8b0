"""What the search methods share: their memory, how it is saved, and how they are made.

A method keeps all its state in one struct, its memory, so that saving and restoring is complete. A
subclass adds which point to ask next and how a throughput changes the memory; failures reach it as
0 bit/s. The best setting is the one with the highest single measurement, even where settings are
measured repeatedly.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

import msgspec
import numpy as np

from advisor.domain.availability import AVAILABLE, Availability
from advisor.domain.events import StopGauge
from advisor.domain.measurement import Measurement, Outcome
from advisor.domain.space import Setting, Space
from advisor.domain.traits import MethodTraits
from advisor.methods.api import Constant, Knowledge, Method


class Memory(msgspec.Struct, kw_only=True):
    """The whole state of a search, in plain values. `best` is a setting and its bit/s."""

    iteration: int = 0
    label: str = ""
    stop_reason: str | None = None
    move_reason: str | None = None
    best: tuple[Setting, float] | None = None


MemoryT = TypeVar("MemoryT", bound=Memory)


def usable_bps(outcome: Outcome) -> float:
    """The throughput in bit/s; 0 for a failure and for a value that is not a number."""
    bps = outcome.throughput_bps if isinstance(outcome, Measurement) else 0.0
    return bps if math.isfinite(bps) and bps > 0 else 0.0


def relative_error(outcome: Outcome) -> float:
    """The standard error of an outcome's rate, as a fraction of it; 0 where it is not known."""
    if not isinstance(outcome, Measurement) or outcome.throughput_bps <= 0:
        return 0.0
    error = outcome.stderr_bps / outcome.throughput_bps
    return error if math.isfinite(error) else 0.0


def change_percent(before_bps: float, now_bps: float) -> float:
    """Equation Δ_c of Balaprakash et al.; a change from nothing to something is 100 %."""
    if before_bps > 0:
        return 100 * (now_bps - before_bps) / before_bps
    return 100.0 if now_bps > 0 else 0.0


def generator_state(rng: np.random.Generator) -> dict[str, Any]:
    """The state of a generator as JSON values: its 128-bit numbers are hexadecimal text."""
    whole: Any = rng.bit_generator.state
    numbers = {key: f"{value:x}" for key, value in whole["state"].items()}
    return {**numbers, "has_uint32": int(whole["has_uint32"]), "uinteger": int(whole["uinteger"])}


def set_generator(rng: np.random.Generator, saved: Mapping[str, Any]) -> None:
    """Set a generator of the same kind to a state returned by `generator_state`."""
    whole: Any = rng.bit_generator.state
    whole["state"] = {key: int(saved[key], 16) for key in whole["state"]}
    whole["has_uint32"] = saved.get("has_uint32", 0)
    whole["uinteger"] = saved.get("uinteger", 0)
    rng.bit_generator.state = whole


def settled_constants(
    method: str, constants: tuple[Constant, ...], given: Mapping[str, float]
) -> dict[str, float]:
    """All constants, those not given at their defaults. Raises ValueError for an invalid one."""
    known = {one.name: one for one in constants}
    if strange := sorted(set(given) - set(known)):
        raise ValueError(
            f"{method} has no constant '{strange[0]}': it has {', '.join(known) or 'none'}"
        )
    return {name: one.checked(given.get(name, one.default)) for name, one in known.items()}


class Search(ABC, Generic[MemoryT]):
    """The base of search methods: everything around the memory."""

    def __init__(self, space: Space, rng: np.random.Generator, memory: MemoryT) -> None:
        self._space = space
        self._rng = rng
        self.memory = memory

    @abstractmethod
    def _setting(self) -> Setting:
        """The setting to measure next."""

    @abstractmethod
    def _take(self, bps: float) -> None:
        """Continue from the throughput of that setting, 0 for a failure."""

    @property
    def iteration(self) -> int:
        """The number of complete iterations."""
        return self.memory.iteration

    @property
    def label(self) -> str:
        """The purpose of the last asked setting."""
        return self.memory.label

    @property
    def stop_reason(self) -> str | None:
        """Why the search ended, None while it runs."""
        return self.memory.stop_reason

    @property
    def move_reason(self) -> str | None:
        """Why the last `tell` moved the search, None when it did not."""
        return self.memory.move_reason

    @property
    def gauges(self) -> list[StopGauge]:
        """How near the search is to stopping."""
        return []

    def ask(self) -> Setting | None:
        """The setting to measure next, None when the search has ended."""
        return None if self.memory.stop_reason is not None else self._setting()

    def tell(self, setting: Setting, outcome: Outcome) -> None:
        """Process the outcome of the setting last asked."""
        memory, bps = self.memory, usable_bps(outcome)
        memory.move_reason = None
        if bps > 0 and (memory.best is None or bps > memory.best[1]):
            memory.best = (dict(setting), bps)
        if memory.stop_reason is None:
            self._take(bps)

    def best(self) -> tuple[Setting, float] | None:
        """The setting with the highest single measurement, and that measurement in bit/s."""
        return self.memory.best

    def recommended(self) -> tuple[Setting, float] | None:
        """The best, unless the method has a better estimate."""
        return self.best()

    def state(self) -> dict[str, Any]:
        """The memory and the generator, as plain JSON values."""
        memory: dict[str, Any] = msgspec.to_builtins(self.memory)
        return memory | {"generator": generator_state(self._rng)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state returned by `state`."""
        memory = {key: value for key, value in state.items() if key != "generator"}
        self.memory = msgspec.convert(memory, type(self.memory))
        set_generator(self._rng, state["generator"])


class SearchPlugin:
    """Finds and makes a search that needs nothing but numpy.

    `make` is called with the space, the generator, the prior knowledge, and all constants.
    `available`: whether what else the search needs is installed.
    """

    def __init__(
        self,
        *,
        name: str,
        summary: str,
        make: Callable[[Space, np.random.Generator, Knowledge, Mapping[str, float]], Method],
        constants: tuple[Constant, ...] = (),
        traits: MethodTraits = MethodTraits(),  # noqa: B008 — it is frozen
        available: Callable[[], Availability] = lambda: AVAILABLE,
    ) -> None:
        self.name = name
        self.summary = summary
        self.constants = constants
        self.traits = traits
        self._make = make
        self._available = available

    def available(self) -> Availability:
        """Whether this host has what the search needs."""
        return self._available()

    def create(
        self,
        space: Space,
        rng: np.random.Generator,
        knowledge: Knowledge,
        constants: Mapping[str, float],
    ) -> Method:
        """Make a new search. Raises ValueError for an unknown or invalid constant."""
        return self._make(
            space, rng, knowledge, settled_constants(self.name, self.constants, constants)
        )
