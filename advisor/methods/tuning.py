"""Tuners of a running transfer: after each control epoch they choose the setting of the next one.

A control epoch is a period with one setting (Balaprakash et al. 2016, section III.B). Its outcome
is passed to a tuner. A search method can serve as one: it gives settings and receives outcomes.
"""

from collections.abc import Callable
from typing import Final, Protocol, runtime_checkable

import msgspec
import numpy as np

from advisor.domain.epoch import Comparison, EpochRate
from advisor.domain.measurement import Measurement, Outcome
from advisor.domain.quantities import format_rate
from advisor.domain.space import Setting, SettingKey, Space, flows_of, setting_key
from advisor.methods.api import Knowledge, Method, MethodPlugin, WithRepeats, WithWatch
from advisor.methods.changing import Changing
from advisor.methods.searching import relative_error, usable_bps

_LEAST_ERROR: Final = 0.05
"""The least relative standard error of the rate that an epoch is compared with: HARP's 5 % (2018,
section 3.1.1), below which differences are not worth a distinction."""

_MOST_ANSWERED: Final = 1000
"""Answers in a row from what was measured; a method that still asks for the same measures again."""


class Tuner(Protocol):
    """Chooses the settings. `setting`: that of the current epoch."""

    @property
    def setting(self) -> Setting:
        """Concurrency, parallelism, or both; a missing one is 1."""

    def tell(self, outcome: Outcome) -> str:
        """Process the epoch's outcome and choose the next setting; why, as a sentence, or ""."""


@runtime_checkable
class WithComparison(Protocol):
    """A tuner that knows what the present epoch is compared with."""

    @property
    def comparison(self) -> Comparison | None:
        """What the epoch is to show before it may end; None for an epoch of full length."""


class TunerBounds(msgspec.Struct, frozen=True, kw_only=True):
    """What the user allows. `flows`: concurrency × parallelism at most, None for any number.

    `relaxation`: the share of the expected rate that a tuner with expectations must keep when it
    lowers a level, above 0 up to 1.
    `streams`: the parallelism to keep, so that concurrency alone is tuned; None tunes both.
    """

    concurrency: int
    parallelism: int
    flows: int | None = None
    relaxation: float = 1.0
    streams: int | None = None


@runtime_checkable
class TunerPlugin(MethodPlugin, Protocol):
    """A method that tunes a running transfer in its own way, and not as `Searching` does.

    `knowledge.transfers` are those of the history; `knowledge.start` is
    where the user wants it to start, None for its own choice.
    """

    def tuner(
        self, space: Space, rng: np.random.Generator, knowledge: Knowledge, bounds: TunerBounds
    ) -> Tuner:
        """A new tuner within the bounds. It may take a second."""


class Fixed:
    """Keeps one setting."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    def tell(self, _outcome: Outcome) -> str:
        """Ignore the outcome."""
        return ""


class Searching:
    """Uses what a search method asks for; once the method has ended, what it recommends.

    It then watches, and where conditions change, a new search starts from the present setting.
    `make`: makes the method, starting at a setting where one is given. `space`: the method's. What
    it asks beyond the flows of the space is projected onto them, and the method receives the
    outcome of the setting that ran.

    A setting that was measured in this search is not measured again: the method is answered at
    once, unless it wants a repeat (`WithRepeats`). A wanted repeat forgets all else that was
    measured, since the method may find in it that conditions have changed.
    """

    def __init__(self, make: Callable[[Setting | None], Method], space: Space) -> None:
        """Raises ValueError for a method that asks for no setting at all."""
        self._make = make
        self._space = space
        self._watch = Changing()
        self._begin(None)

    def _begin(self, at: Setting | None) -> None:
        self._method = self._make(at)
        self._measured: dict[SettingKey, Outcome] = {}
        if not self._take_asked():
            raise ValueError(f"the method has nothing to try: {self._method.stop_reason}")

    def _take_asked(self) -> bool:
        """Go to the setting that the method asks for; whether there is one."""
        if (asked := self._method.ask()) is not None:
            self.setting = self._space.bounded(asked)
        return asked is not None

    def tell(self, outcome: Outcome) -> str:
        """The reason for the method's next setting, in its own words."""
        if self._method.ask() is None:
            return self._again(outcome)
        if _wants_repeat(self._method):
            self._measured.clear()
        reason = self._tell(outcome)
        if self._method.ask() is not None:
            return reason or self._method.label
        if recommended := self._method.recommended():
            self.setting = self._space.bounded(recommended[0])
        self._watch = Changing()
        return f"{self._method.stop_reason}: it keeps the best setting and watches"

    @property
    def comparison(self) -> Comparison | None:
        """The present epoch against what the method would recommend so far; None while it keeps
        and watches a setting."""
        method = self._method
        if method.ask() is None or (isinstance(method, WithWatch) and method.watches):
            return None
        recommended = method.recommended()
        if recommended is None or recommended[0] == self.setting:
            return Comparison()
        setting, bps = recommended
        known = self._measured.get(setting_key(setting))
        error = relative_error(known) if known is not None else 0.0
        return Comparison(reference=EpochRate(bps=bps, stderr_bps=max(error, _LEAST_ERROR) * bps))

    def _tell(self, outcome: Outcome) -> str:
        """Pass on the outcome, and what is known of what the method asks; the last reason given."""
        reason = ""
        for _ in range(_MOST_ANSWERED):
            self._method.tell(self.setting, outcome)
            self._measured[setting_key(self.setting)] = outcome
            reason = self._method.move_reason or reason
            known = None
            if self._take_asked() and not _wants_repeat(self._method):
                known = self._measured.get(setting_key(self.setting))
            if known is None:
                break
            outcome = known
        return reason

    def _again(self, outcome: Outcome) -> str:
        bps = usable_bps(outcome)
        stderr_bps = relative_error(outcome) * bps
        if not self._watch.sees(bps, stderr_bps):
            return ""
        before_bps = self._watch.reference_bps
        self._begin(self.setting)
        return (
            f"{format_rate(bps)} after {format_rate(before_bps)} at the same setting: it searches "
            "again"
        )


def _wants_repeat(method: Method) -> bool:
    return isinstance(method, WithRepeats) and method.wants_repeat


class Priced:
    """A tuner that gets the utility of a setting instead of its throughput T: T / (1 + price)^n.

    That is the utility of Falcon (Arifuzzaman and Arslan, "Online optimization of file transfers in
    high-speed networks", SC 2021), whose K is 1 + price, without its term for losses, and with n
    the total number of flows: concurrency × parallelism. Each extra flow must gain more than its
    price. Two such transfers that share a link in proportion to their flows converge to
    1 / (2 ln K) flows each, where neither gains by adding one, instead of outbidding each other
    indefinitely.
    """

    def __init__(self, tuner: Tuner, price: float) -> None:
        """`price`: of one flow, as a fraction of the throughput, above 0."""
        self._tuner = tuner
        self._price = price

    @property
    def setting(self) -> Setting:
        """The setting of the wrapped tuner."""
        return self._tuner.setting

    @property
    def comparison(self) -> Comparison | None:
        """That of the wrapped tuner, at the rate that would be worth as much with these flows."""
        tuner = self._tuner
        shown = tuner.comparison if isinstance(tuner, WithComparison) else None
        if shown is None or shown.reference is None:
            return shown
        worth, reference = self._worth, shown.reference
        return Comparison(
            reference=EpochRate(bps=reference.bps / worth, stderr_bps=reference.stderr_bps / worth)
        )

    @property
    def _worth(self) -> float:
        """The utility of a unit of throughput at the present setting."""
        return float((1 + self._price) ** -flows_of(self._tuner.setting))

    def tell(self, outcome: Outcome) -> str:
        """Let the tuner decide from the rates reduced by the price."""
        if isinstance(outcome, Measurement):
            worth = self._worth
            outcome = msgspec.structs.replace(
                outcome,
                throughput_bps=outcome.throughput_bps * worth,
                stderr_bps=outcome.stderr_bps * worth,
            )
        reason = self._tuner.tell(outcome)
        return f"{reason} [rates reduced by {self._price:.2g} per flow]" if reason else ""
