"""Every screen reads the same history, with the same reference profiles, from any thread."""

from pathlib import Path

import psycopg
import pytest

from advisor.store.errors import StoreError
from advisor.store.history import Store
from advisor.store.postgres.database import Database
from advisor.tui.app import AdvisorApp
from advisor.tui.features.advising.draft import Draft
from advisor.tui.features.history.export import records_of
from advisor.tui.kit.open_history import OpenHistory
from tests.postgres_server import SharedDatabase
from tests.unit.store.conftest import keep_reference, make_a_session

from .driving import until, words
from .stored import keep_probes


@pytest.fixture
def with_reference(tmp_path: Path) -> Store:
    """A history in which nothing is stored, beside profiles of a path to dtn02."""
    measured = Store(tmp_path / "measured")
    pair = keep_probes(measured, "dtn02", [1e9, 1.1e9])
    keep_reference(tmp_path / "profiles", measured.records(pair))
    return Store(tmp_path / "own", [tmp_path / "profiles"])


def test_what_is_borrowed_at_the_same_time_is_apart_and_has_the_references(
    with_reference: Store,
) -> None:
    (pair,) = with_reference.references.records
    history = OpenHistory(with_reference)
    with history.store() as one, history.store() as other:
        assert one is not other
        assert [len(store.prior(pair)) for store in (one, other)] == [2, 2]
        assert {one.argument, other.argument} == {history.arguments[1]}
    with history.store() as again:
        assert again in (one, other)


def test_a_part_of_what_is_chosen_is_not_saved(
    shared_database: SharedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(shared_database.backend("alice"))
    store.append(make_a_session("s", 1.0))
    history, sessions = OpenHistory(store), store.sessions()
    assert len(records_of(history, sessions)) == 1

    def gone(*_: object) -> None:
        raise psycopg.OperationalError("it went away")

    monkeypatch.setattr(Database, "_within_limit", gone)
    with pytest.raises(StoreError, match="may be incomplete"):
        records_of(history, sessions)


@pytest.mark.asyncio
async def test_the_step_history_shows_the_references_of_this_program(
    with_reference: Store,
) -> None:
    app = AdvisorApp(with_reference, Draft(destination="dtn02"))
    async with app.run_test(size=(120, 40)) as pilot:
        app.go("history")
        await until(pilot, lambda: "reference profile" in words(app, "#past"))
