"""One search of a backtest as a task, for this process or for a worker on another host."""

import dataclasses
from typing import Any, Final

import msgspec

from advisor import registry
from advisor.backtest.recorded import RecordedTable
from advisor.backtest.replay import Replayed, replay
from advisor.methods.api import Knowledge, MethodPlugin
from advisor.runtime.executor import Computation


class SentMethod:
    """A method; a worker on another host loads its own by the name."""

    def __init__(self, plugin: MethodPlugin) -> None:
        self.plugin = plugin

    def __reduce__(self) -> tuple[Any, ...]:
        return _of_worker, (self.plugin.name,)


def _of_worker(name: str) -> SentMethod:
    return SentMethod(registry.method(name))


@dataclasses.dataclass(frozen=True)
class Search:
    """One search: all that it depends on. `turn`: the place of its method among those compared."""

    turn: int
    method: SentMethod
    table: RecordedTable
    knowledge: Knowledge
    seed: int
    budget: int
    in_order: bool
    with_regret: bool


class Found(msgspec.Struct, frozen=True):
    """What became of a search: how it ended, or why the method failed."""

    replayed: Replayed | None
    failure: str = ""


def _search(one: Search) -> Found:
    try:
        replayed = replay(
            one.method.plugin,
            one.table,
            one.knowledge,
            seed=one.seed,
            budget=one.budget,
            in_order=one.in_order,
            with_regret=one.with_regret,
        )
    except Exception as error:  # noqa: BLE001 — third-party methods may raise anything
        return Found(None, str(error) or type(error).__name__)
    return Found(replayed)


SEARCHING: Final = Computation(_search, Found)
"""Each search by itself."""
