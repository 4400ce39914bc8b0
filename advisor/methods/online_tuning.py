"""HARP's online tuning: a setting changes when the suggestions for it are consistent.

Arslan et al. (HARP, 2018), section 4.2. In each monitor interval the optimiser suggests a setting
from the throughput of the present one. "We consider last k monitor interval when making decision on
whether or not to change parameter values": k = 4. The four values need not be equal, but all must
be higher than the present one, or all lower. "We update concurrency and parallelism levels only if
there is at least two difference between old and new values".

The paper leaves open, and this module decides:

- Which of the four values is taken: the newest.
- Each parameter is judged separately, and after a change all start over, because the earlier
  suggestions were based on another setting.
- An interval in which nothing arrived suggests nothing.
- A setting at which nothing gets through is left for the last one that gave something, and is not
  used again. The count starts over.
"""

from collections import deque
from collections.abc import Callable
from typing import Final

from advisor.domain.measurement import Outcome, is_rejected
from advisor.domain.space import Setting, SettingKey, setting_key
from advisor.methods.searching import usable_bps

INTERVALS: Final = 4
LEAST_STEP: Final = 2

Suggest = Callable[[Setting, float], tuple[Setting, str]]
"""From a setting and its throughput in bit/s: another setting, and a sentence on its basis."""

Bounded = Callable[[Setting], Setting]


class Consistency:
    """The recent suggestions."""

    def __init__(self, intervals: int = INTERVALS, least_step: int = LEAST_STEP) -> None:
        self._last: deque[Setting] = deque(maxlen=intervals)
        self._least_step = least_step

    def judge(self, present: Setting, suggested: Setting) -> Setting:
        """Process one more suggestion, with all the names of `present`; return the setting to use.

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

    def __init__(self, start: Setting, suggest: Suggest, bounded: Bounded = dict) -> None:
        """`bounded`: projects a setting onto what is allowed, as `Space.bounded`."""
        self.setting = bounded(start)
        self._suggest = suggest
        self._bounded = bounded
        self._consistency = Consistency()
        self._good: Setting | None = None
        self._refused: set[SettingKey] = set()

    def tell(self, outcome: Outcome) -> str:
        """The basis of the suggestion that was followed, or why it went back; "" for neither."""
        if is_rejected(outcome):
            return self._go_back()
        if not (bps := usable_bps(outcome)):
            return ""
        suggested, worth = self._suggest(self.setting, bps)
        before = self._good = self.setting
        # Otherwise a suggestion beyond the flow limit would be consistent forever, with no effect.
        within = self._bounded(suggested)
        wanted = self._bounded(self._consistency.judge(before, within))
        if wanted == before or setting_key(wanted) in self._refused:
            return ""
        self.setting = wanted
        return f"{INTERVALS} consecutive suggestions point away from the present setting. {worth}"

    def _go_back(self) -> str:
        """Nothing gets through at the present setting: leave it, if another one gave something."""
        if self._good is None or self._good == self.setting:
            return ""
        self._refused.add(setting_key(self.setting))
        self.setting = self._good
        self._consistency = Consistency()
        return "nothing gets through: it returns to the last setting that worked"
