"""`advisor history replay` of transfers that tuned themselves."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from advisor.cli.history.command import history
from advisor.domain import events as ev
from advisor.domain.records import TransferRecord
from advisor.store.history import Store
from tests.commands import invoke
from tests.tui import tuned

Replay = Callable[..., Result]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


@pytest.fixture
def replay(store: Store) -> Replay:
    def call(*words: str) -> Result:
        command = ["replay", str(tuned.PAIR), *words, "--store", store.argument]
        return invoke(history, command)

    return call


def stored(store: Store, session: str, events: list[ev.AnyEvent]) -> None:
    if events:
        log = store.event_log(tuned.PAIR, session)
        for event in events:
            log(event)
        log.close()
    store.append(
        TransferRecord(
            pair=tuned.PAIR, recorded_s=1.0, session=session, total_bytes=1, elapsed_s=1.0
        )
    )


def test_a_transfer_is_replayed_without_its_progress(store: Store, replay: Replay) -> None:
    events = [*tuned.under_way(), tuned.ended()]
    stored(store, "tuned", events)
    stored(store, "of which nothing was kept", [])
    shown = replay()
    assert shown.exit_code == 0
    assert "all 40 files are there" in shown.stdout
    changes = [event for event in events if isinstance(event, ev.SettingChanged)]
    assert shown.stderr.count("reflected: away from the worst of three") == len(changes) == 6
    assert "external load: ext.tfr 16" in shown.stderr
    # A line for the start, one for each change and load.
    assert len(shown.stderr.splitlines()) == 1 + len(changes) + 2


def test_one_that_came_to_nothing_says_why(store: Store, replay: Replay) -> None:
    gave_up = ev.GaveUp(at_s=9.0, message="the destination is gone", exit_code=3)
    stored(store, "first", [tuned.started(), gave_up])
    stored(store, "second", [tuned.started(), tuned.ended()])
    shown = replay("--session", "first")
    assert shown.exit_code == 0
    assert not shown.stdout
    assert "the destination is gone" in shown.stderr


def test_a_session_that_is_not_there(store: Store, replay: Replay) -> None:
    stored(store, "tuned", [])
    refused = replay("--session", "another")
    assert refused.exit_code == 2
    assert "dtn1->dtn[2] has tuned" in refused.stderr
    nothing = replay()
    assert nothing.exit_code == 1
    assert "no events are stored for any session of dtn1->dtn[2]" in nothing.stderr
