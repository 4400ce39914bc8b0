"""The base case that factors refer to: when it has been measured, and when it cannot be."""

from collections.abc import Collection, Mapping
from typing import Final

from advisor.domain.shares import BASE, Asked
from advisor.models.shares.planning import needs_base
from advisor.transfer.shared.epochs import SharedEpoch

_TRIES: Final = 3
"""Epochs at the base since a destination ended, at most. A path may be lost all the time, or the
last file of a destination be under way for hours: then no epoch is whole."""


class BaseCase:
    """Whether the next epoch is to have the base case (`is_due`)."""

    def __init__(self, *, is_due: bool) -> None:
        self.is_due = is_due
        self._tries = 0
        self._unfinished = 0

    def is_seen(self, epoch: SharedEpoch, unfinished: Collection[str]) -> bool:
        """Whether this epoch is what factors refer to.

        `unfinished`: the destinations that do not have all their files; some may be lost for now.
        """
        levels = epoch.concurrencies
        is_base = levels.keys() >= set(unfinished) and set(levels.values()) == {BASE}
        return self.is_due and epoch.is_whole and is_base

    def reason_to_end(self, asked: Mapping[str, Asked], *, is_seen: bool) -> str:
        """Process an epoch; returns why the base case is over, "" if it is not, or has been before.

        `asked`: of the unfinished destinations.
        """
        if not self.is_due:
            return ""
        if len(asked) != self._unfinished:
            self._unfinished, self._tries = len(asked), 0
        self._tries += 1
        if is_seen:
            reason = f"what each gets with {BASE} files is measured"
        elif not needs_base(asked):
            reason = "no factor is requested any more"
        elif self._tries >= _TRIES:
            reason = (
                f"what each gets with {BASE} files cannot be measured: factors refer to what was "
                "known before"
            )
        else:
            return ""
        self.is_due = False
        return reason
