"""What a session said is kept, through resuming and killing, and never in its way."""

import gzip
import shutil
from pathlib import Path

import pytest

from advisor.domain import events as ev
from advisor.domain.endpoints import Pair
from advisor.store.event_log import EventLog, kept_events
from advisor.store.history import Store


def notices(*texts: str) -> list[ev.AnyEvent]:
    return [ev.Notice(at_s=float(i), message=text) for i, text in enumerate(texts)]


def test_events_come_back_in_their_order(tmp_path: Path, pair: Pair) -> None:
    store = Store(tmp_path)
    log = store.event_log(pair, "one")
    for event in notices("a", "b"):
        log(event)
    assert store.events(pair, "one") == notices("a", "b")
    log.close()
    assert store.events(pair, "one") == notices("a", "b")
    assert [p.name for p in tmp_path.rglob("events*")] == ["events.jsonl.gz"]
    assert store.events(pair, "another") == []


def test_a_resumed_session_continues_in_the_same_log(tmp_path: Path) -> None:
    for text in ("first", "second"):
        log = EventLog(tmp_path)
        log(notices(text)[0])
        log.close()
    assert list(kept_events(tmp_path)) == notices("first") + notices("second")


def test_what_a_killed_session_left_is_read_and_resumed(tmp_path: Path) -> None:
    killed = EventLog(tmp_path)
    killed(notices("before")[0])
    with (tmp_path / "events.jsonl").open("ab") as file:
        file.write(b'{"event":"notice","at_s":1.0,"mess')
    assert list(kept_events(tmp_path)) == notices("before")
    with (tmp_path / "events.jsonl").open("ab") as file:
        file.write(b"\n")
    log = EventLog(tmp_path)
    log(notices("after")[0])
    log.close()
    assert list(kept_events(tmp_path)) == notices("before") + notices("after")
    killed.close()


def test_a_cut_archive_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    log = EventLog(tmp_path)
    log(notices("whole")[0])
    log.close()
    packed = tmp_path / "events.jsonl.gz"
    packed.write_bytes(packed.read_bytes() + gzip.compress(b"x" * 1000)[:15])
    assert list(kept_events(tmp_path)) == notices("whole")


def test_where_nothing_can_be_written_the_session_continues(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    log = EventLog(blocked / "folder")
    log(notices("lost")[0])
    log.close()
    assert blocked.read_text() == ""


def test_a_folder_that_goes_away_is_no_trouble(tmp_path: Path) -> None:
    folder = tmp_path / "session"
    log = EventLog(folder)
    log(notices("kept")[0])
    shutil.rmtree(folder)
    log(notices("lost")[0])
    log.close()
    assert list(kept_events(folder)) == []


@pytest.mark.parametrize("speed", [None, 1000.0])
def test_replay_narrates_and_ends_with_the_advice(
    speed: float | None, capsys: pytest.CaptureFixture[str]
) -> None:
    from advisor.cli.history.replay import replay_session

    replay_session(notices("one", "two"), speed)
    shown = capsys.readouterr()
    assert shown.err == "advisor: one\nadvisor: two\n"
    assert shown.out == ""


def test_pauses_are_those_of_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    from advisor.cli.history import replay

    slept: list[float] = []
    monkeypatch.setattr(replay.time, "sleep", slept.append)
    times = [0.0, 2.0, 2.5, 0.1, 60.1]
    events: list[ev.AnyEvent] = [ev.Notice(at_s=t, message="") for t in times]
    assert list(replay.paced(events, 2.0)) == events
    assert slept == pytest.approx([0.0, 1.0, 0.25, 0.0, 5.0])
