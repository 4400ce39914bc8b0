"""Stored sessions, and the table that lists them."""

from typing import Any

from textual.app import App

from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Interval, Measurement
from advisor.domain.records import AdviceRecord, ProbeRecord, SessionRecord
from advisor.store.history import Store
from advisor.testing.samples import a_path
from advisor.tui.features.history.widgets.session_table import SessionTable

from .driving import settle
from .test_comparison import PAIR, TCP, an_advice

OTHER = Pair("dtn1", "far[1]")
DAY_S = 86400.0


def keep(
    store: Store,
    name: str,
    began_s: float,
    rate_bps: float,
    pair: Pair = PAIR,
    advised: bool = True,
) -> None:
    """A session of two probes with that rate and half of it."""
    store.append(
        SessionRecord(
            session=name, pair=pair, recorded_s=began_s, request={"seed": 1}, path=a_path()
        )
    )
    for number, bps in enumerate((rate_bps / 2, rate_bps), 1):
        store.append(
            ProbeRecord(
                pair=pair,
                subject="tcp",
                setting=TCP,
                result=Measurement(
                    throughput_bps=bps,
                    stderr_bps=1e6,
                    intervals=[Interval(0.0, 1.0, int(bps / 8)), Interval(1.0, 2.0, int(bps / 8))],
                    steady_from=0,
                    settled=True,
                    elapsed_s=2.0,
                ),
                recorded_s=began_s + 5.0 * number,
                session=name,
                stage="tcp",
            )
        )
    if advised:
        advice = an_advice(session=name, pair=pair, expected_bps=rate_bps)
        store.append(AdviceRecord(pair=pair, recorded_s=began_s + 20.0, advice=advice))


def keep_three(store: Store) -> None:
    """`one`, `two`, `three` began on three days; two is the fastest, three went elsewhere."""
    keep(store, "one", 1.6e9, 4e9)
    keep(store, "two", 1.6e9 + DAY_S, 9e9, advised=False)
    keep(store, "three", 1.6e9 + 2 * DAY_S, 1e9, OTHER)


async def opened(app: App[int], pilot: Any) -> SessionTable:
    app.go("review")  # type: ignore[attr-defined]  # the application's own
    await settle(pilot)
    return app.screen.query_one(SessionTable)


def state_of(store: Store, name: str) -> Any:
    return next(s for s in store.sessions(include_deleted=True) if s.session == name)
