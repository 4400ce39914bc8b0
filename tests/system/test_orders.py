"""What a user orders while a session runs, on localhost with real probes."""

import subprocess

import pytest

from .program import Run, Start


def _advise(start: Start, budget_s: int) -> Run:
    options = ["--json", "--orders", "--seed", "3", "--budget", str(budget_s)]
    return start("advise", "localhost", *options, stdin=subprocess.PIPE)


@pytest.fixture
def session(start: Start) -> Run:
    """It would last longer than a test takes to end it."""
    return _advise(start, 60)


def test_a_pause_holds_the_time_and_the_probes(session: Run) -> None:
    session.wait_for("probe_ended")
    session.order(order="pause")
    session.wait_for("paused")
    ends = [e for e in session.events if e["event"] == "probe_ended"]
    left_s = ends[-1]["remaining_s"]
    started = [e["ordinal"] for e in session.events if e["event"] == "probe_started"]
    ended = [e["ordinal"] for e in session.events if e["event"] == "probe_ended"]
    assert started == ended  # Nothing runs.
    # On a busy machine the pause begins some time after the probe ended.
    session.order(order="extend", by_s=60)
    session.order(order="resume")
    session.wait_for("resumed")
    extended = session.wait_for("budget_extended")
    assert extended["by_s"] == 60
    assert extended["left_s"] > left_s
    session.order(order="stop")
    session.wait_for("advice")
    assert session.finish().returncode == 130


def test_a_setting_by_hand_and_a_run_that_is_skipped(start: Start) -> None:
    session = _advise(start, 12)
    first = session.wait_for("probe_started", transport="tcp")
    setting = first["setting"] | {"streams": 3}
    session.order(order="try", transport="tcp", setting=setting)
    session.order(order="try", transport="tcp", setting={"streams": 3})
    session.order(order="try", transport="pigeon", setting=setting)
    session.order(order="skip", stage="udt")
    tried = session.wait_for("probe_ended", stage="by hand")
    assert tried["setting"] == setting
    assert tried["result"]["outcome"] == "measured"
    assert session.wait_for("stage_ended", stage="udt")["reason"] == "skipped"
    session.wait_for("advice")
    assert session.finish().returncode == 0
    notices = [e["message"] for e in session.events if e["event"] == "notice"]
    assert "not tried: a setting of tcp has buffer_bytes, congestion, streams" in notices
    assert "not tried: this session measures tcp, udt" in notices


def test_nonsense_is_said_and_the_end_of_the_input_stops(session: Run) -> None:
    session.wait_for("probe_ended")
    session.order(order="dance")
    assert "not an order" in session.wait_for("notice")["message"]
    assert session.process.stdin is not None
    session.process.stdin.close()
    assert session.wait_for("advice")["incomplete"] is True
    session.process.stdin = None
    assert session.finish().returncode == 130


def test_a_path_is_looked_at_without_load(start: Start) -> None:
    run = start("path", "localhost", "--json")
    assert run.finish().returncode == 0
    assert [e["event"] for e in run.events] == ["path_found", "history_found"]
    nowhere = start("path", "nobody@no-such-host.invalid")
    done = nowhere.finish()
    assert done.returncode == 3
    assert len(done.stderr.splitlines()) == 1
    assert "no-such-host.invalid" in done.stderr


def test_a_watched_path_tells_its_rtt(start: Start) -> None:
    run = start("path", "localhost", "--json", "--watch")
    assert 0 < run.wait_for("rtt_seen")["rtt_s"] < 1
    run.process.send_signal(2)
    assert run.finish().returncode == 0
