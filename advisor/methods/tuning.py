"""Tuners of a transfer that runs: after each control epoch, the setting of the next one.

A control epoch is a stretch of time with one setting (Balaprakash et al. 2016, section III.B). What
it gave is told to a tuner. A search method is one, as it is asked and told in turns.
"""

from typing import Final, Protocol

from advisor.domain.measurement import Outcome
from advisor.domain.space import Setting, flows_of
from advisor.methods.api import Method

_CONCURRENCY: Final = "concurrency"
_PARALLELISM: Final = "parallelism"


class Tuner(Protocol):
    """What decides. `setting`: that of the epoch under way."""

    @property
    def setting(self) -> Setting:
        """Concurrency, parallelism, or both; what it has not is 1."""

    def tell(self, outcome: Outcome) -> str:
        """Take what the epoch gave, and settle the next one; why, as a sentence, or ""."""


class Fixed:
    """Changes nothing."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    def tell(self, _outcome: Outcome) -> str:
        """Nothing follows from it."""
        return ""


class Searching:
    """What a search method asks for; once it has ended, what it recommends.

    `most_flows`: see `within_flows`. The method is told what its own setting gave, as if that had
    been used: the papers' fBnd, which projects onto the bounds.
    """

    def __init__(self, method: Method, most_flows: int | None = None) -> None:
        """Raises ValueError for a method that asks for nothing at all."""
        self._method = method
        self._most_flows = most_flows
        asked = method.ask()
        if asked is None:
            raise ValueError(f"the method has nothing to try: {method.stop_reason}")
        self._asked: Setting | None = asked
        self.setting = within_flows(asked, most_flows)

    def tell(self, outcome: Outcome) -> str:
        """Why the method goes where it goes, in its own words."""
        if self._asked is None:
            return ""
        self._method.tell(self._asked, outcome)
        reason = self._method.move_reason
        self._asked = self._method.ask()
        if self._asked is not None:
            self.setting = within_flows(self._asked, self._most_flows)
            return reason or self._method.label
        if recommended := self._method.recommended():
            self.setting = within_flows(recommended[0], self._most_flows)
        return f"{self._method.stop_reason}: it stays with the best"


def within_flows(setting: Setting, most: int | None) -> Setting:
    """The setting with so many flows at most, None for any number.

    Parallelism gives way first: "varying parallelism values have only a minor impact on the
    throughput" (Balaprakash et al. 2016, section IV.B).
    """
    if most is None or flows_of(setting) <= most:
        return setting
    bounded = dict(setting)
    if _CONCURRENCY in setting:
        bounded[_CONCURRENCY] = min(int(setting[_CONCURRENCY]), most)
    if _PARALLELISM in setting:
        bounded[_PARALLELISM] = max(1, most // int(bounded.get(_CONCURRENCY, 1)))
    return bounded
