"""Which simulated changes are noticed, and how soon; which are called where there is none."""

from collections import Counter

from advisor.fleet.plan.turns import News
from advisor.fleet.simulation.report import Notices, notices_of
from advisor.fleet.simulation.world import Happening, World
from advisor.models.change_point import ChangeTest, Verdict

_NEWS: dict[Verdict, News] = {
    Verdict.NONE: "none",
    Verdict.SUSPECTED: "suspected",
    Verdict.CHANGED: "changed",
}


class Noticing:
    """Runs the test of every pair, and knows what really happened."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._tests: dict[tuple[int, int, int], ChangeTest] = {}
        self._changes_known: dict[tuple[int, int, int], int] = {}
        self._open: dict[tuple[int, int], Happening] = {}
        self._happened: Counter[str] = Counter()
        self._delays_s: dict[str, list[float]] = {}
        self.false_alarms = 0

    def happens(self, one: Happening) -> None:
        """A change begins or ends now."""
        self._open[one.host, one.other] = one
        self._happened[_label(one)] += 1

    def news(self, task: int, source: int, destination: int, rate_bps: float, now_s: float) -> News:
        """What a result says beside the history of its pair."""
        key = task, source, destination
        test = self._tests.get(key)
        if test is None:
            test = self._tests[key] = ChangeTest()
            self._changes_known[key] = self._world.changes(source, destination)
        verdict = test.tell(rate_bps)
        if verdict is Verdict.CHANGED:
            self._called(key, now_s)
        return _NEWS[verdict]

    def _called(self, key: tuple[int, int, int], now_s: float) -> None:
        _, source, destination = key
        changes = self._world.changes(source, destination)
        if changes == self._changes_known[key]:
            self.false_alarms += 1
            return
        self._changes_known[key] = changes
        for place in ((source, destination), (source, -1), (destination, -1)):
            if one := self._open.pop(place, None):
                self._delays_s.setdefault(_label(one), []).append(now_s - one.at_s)

    def notices(self) -> dict[str, Notices]:
        """By kind and size of the change."""
        return {
            label: notices_of(self._happened[label], self._delays_s.get(label, []))
            for label in sorted(self._happened)
        }


def _label(one: Happening) -> str:
    percent = round(100 * (1 / one.factor - 1 if one.end else one.factor - 1))
    return f"{one.kind} {percent:+d} %"
