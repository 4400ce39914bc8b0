"""HARP's online tuning: a setting changes when the suggestions for it are consistent.

Arslan et al. (HARP, 2018), section 4.2. In each monitor interval the optimiser suggests a setting
from what the present one gave. "We consider last k monitor interval when making decision on whether
or not to change parameter values": k = 4. It need not be the same value four times, only all of
them higher than the present one, or all lower. "We update concurrency and parallelism levels only
if there is at least two difference between old and new values".

What the paper leaves open, and what is done here:

- Which of the four values is taken: the newest.
- Each parameter is judged by itself, and after a change all begin anew: what was suggested before
  stood on another setting.
- An interval in which nothing arrived suggests nothing.
"""

from collections import deque
from collections.abc import Callable
from typing import Final

from advisor.domain.measurement import Outcome
from advisor.domain.space import Setting
from advisor.methods.searching import usable_bps
from advisor.methods.tuning import within_flows

INTERVALS: Final = 4
LEAST_STEP: Final = 2

Suggest = Callable[[Setting, float], tuple[Setting, str]]
"""From a setting and the bit/s that it gave: another one, and a sentence on what it stands on."""


class Consistency:
    """The suggestions of late."""

    def __init__(self, intervals: int = INTERVALS, least_step: int = LEAST_STEP) -> None:
        self._last: deque[Setting] = deque(maxlen=intervals)
        self._least_step = least_step

    def judge(self, present: Setting, suggested: Setting) -> Setting:
        """Take one more suggestion, with all the names of `present`; the setting to use from now.

        Values are numbers.
        """
        self._last.append(suggested)
        if len(self._last) < (self._last.maxlen or 1):
            return present
        changed = present | {
            name: suggested[name] for name in present if self._has_moved(name, int(present[name]))
        }
        if changed != present:
            self._last.clear()
        return changed

    def _has_moved(self, name: str, present: int) -> bool:
        steps = [int(one[name]) - present for one in self._last]
        is_consistent = min(steps) > 0 or max(steps) < 0
        return is_consistent and abs(steps[-1]) >= self._least_step


class OnlineTuning:
    """A tuner that follows suggestions once they are consistent."""

    def __init__(self, start: Setting, suggest: Suggest, most_flows: int | None = None) -> None:
        self.setting = within_flows(start, most_flows)
        self._suggest = suggest
        self._most_flows = most_flows
        self._consistency = Consistency()

    def tell(self, outcome: Outcome) -> str:
        """On what the suggestion stands that was followed; "" where none was."""
        if not (bps := usable_bps(outcome)):
            return ""
        suggested, worth = self._suggest(self.setting, bps)
        before = self.setting
        # A suggestion beyond the flows allowed would else be consistent with no effect, for ever.
        within = within_flows(suggested, self._most_flows)
        self.setting = within_flows(self._consistency.judge(before, within), self._most_flows)
        if self.setting == before:
            return ""
        return f"{INTERVALS} suggestions in a row lead away from what there was. {worth}"
