"""The state of the shares screen, and its changes by keys, mouse and text."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from advisor.domain.shares import Asked, SharePlan
from advisor.transfer.shared.parsing import parse_asked
from advisor.tui.features.shares.adjusting import dragged, one_step, typed
from advisor.tui.features.shares.draft import SharesDraft
from advisor.tui.features.shares.rows import RateRow, planned, shares_top_bps, with_model
from advisor.tui.features.shares.shares_model import SharesModel

if TYPE_CHECKING:
    from advisor.tui.features.shares.forecasts import Learned


class Board:
    """`learned`: None before the history was read. `plan`: the last valid plan, for `asked` as it
    was then; `trouble`: why there is no plan for the present requests, "" if there is.
    """

    def __init__(self, sharing: SharesDraft) -> None:
        self.sharing = sharing
        self.learned: Learned | None = None
        self.plan: SharePlan | None = None
        self.trouble = ""
        self._asked: dict[str, Asked] = {}
        self._drag: _Drag | None = None

    @property
    def names(self) -> list[str]:
        """The destinations that can be planned with."""
        return list(self.learned.forecasts) if self.learned else []

    @property
    def tool(self) -> str:
        """The tool of the models, "" before they are known."""
        return self.learned.known.tool if self.learned else ""

    @property
    def asked(self) -> dict[str, Asked]:
        """The requests of those that take part; the previous one where the text is invalid."""
        return {name: self._asked[name] for name in self.sharing.taken_in(self.names)}

    def take_up(self, learned: "Learned") -> None:
        """Take up what was learned."""
        self.learned = learned
        self.sharing.add_new(self.names)
        for name in self.names:
            if self.sharing.problem_of(name):
                self.sharing.asked[name] = typed(self._asked.get(name, Asked(share=1)))
            self._asked[name] = parse_asked(self.sharing.asked[name])

    def type(self, name: str, text: str) -> None:
        """Set the text of a request; it counts if it is valid."""
        self.sharing.asked[name] = text
        if not self.sharing.problem_of(name):
            self._asked[name] = parse_asked(text)

    def step(self, name: str, by: int) -> None:
        """Change a request by this many steps."""
        self._ask(name, one_step(self._asked[name], by))

    def drag(self, name: str, rate_bps: float, *, is_left: bool) -> bool:
        """Request this rate; returns False without a plan to derive the request from."""
        if self._drag is None or self._drag.name != name:
            self._drag = self._begun(name, rate_bps)
        if self._drag is None:
            return False
        self._drag = msgspec.structs.replace(self._drag, rate_bps=rate_bps)
        plan, rows = self._drag.plan, self._drag.plan.rows
        asked = dragged(
            {row.destination: self._asked[row.destination] for row in rows},
            name,
            rate_bps,
            {row.destination: row.expected_bps for row in rows},
            {row.destination: row.asked_bps for row in rows},
            self._rate_at(name, plan),
        )
        self._ask(name, asked)
        if is_left:
            self._drag = None
        return True

    def _begun(self, name: str, rate_bps: float) -> "_Drag | None":
        plan = self.plan
        rows = {row.destination for row in plan.rows} if plan else set()
        if plan is None or name not in rows or not rows <= self.asked.keys():
            return None
        return _Drag(name=name, rate_bps=rate_bps, plan=plan, top_bps=self.top_bps(self._planned()))

    def _rate_at(self, name: str, plan: SharePlan) -> Callable[[int], float]:
        """The rate by concurrency, beside the others' present concurrencies."""
        others = sum(row.concurrency for row in plan.rows if row.destination != name)
        forecasts = self.learned.forecasts if self.learned else {}
        return lambda level: forecasts[name](level, others + level)

    def _ask(self, name: str, asked: Asked) -> None:
        self._asked[name] = asked
        self.sharing.asked[name] = typed(asked)

    def rows(self, model: SharesModel | None, *, is_running: bool) -> list[RateRow]:
        """One row per destination; those with too few measurements are last."""
        rows = self._planned()
        if model:
            rows = with_model(rows, model, is_running=is_running)
        if drag := self._drag:
            rows = [
                msgspec.structs.replace(row, asked_bps=drag.rate_bps)
                if row.destination == drag.name and row.asked_bps is not None
                else row
                for row in rows
            ]
        too_little = self.learned.too_little if self.learned else []
        remark = "too few measurements: `advisor share train` adds some"
        return rows + [RateRow(destination=name, is_in=False, remark=remark) for name in too_little]

    def _planned(self) -> list[RateRow]:
        return planned(self.names, self.asked, self.plan)

    def top_bps(self, rows: list[RateRow]) -> float:
        """The end of the axis, fixed while something is dragged."""
        if self._drag:
            return self._drag.top_bps
        return shares_top_bps(rows, self.learned.most_bps if self.learned else 0.0)


class _Drag(msgspec.Struct, frozen=True, kw_only=True):
    """A drag in progress: the destination, its rate, and the plan and axis at the start."""

    name: str
    rate_bps: float
    plan: SharePlan
    top_bps: float
