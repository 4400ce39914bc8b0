"""The main job on localhost, with real TCP and UDT probes."""

import json
import re
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from advisor.advising.more_processes import SPREAD
from advisor.domain.file_io import NETWORK, TOOL_IN_MEMORY
from advisor.domain.records import ProbeRecord, SessionRecord
from advisor.report.ndjson import schema
from advisor.runtime.probe_fields import path_fields
from advisor.store.history import Store
from advisor.testing.samples import measured

from .program import SHORT, TCP_ALONE, Run, Start, children_left, wait_until

SEEDED = ["--seed", "1", "--budget", "40"]


class Session:
    """One that came to its end, with a history of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._runs: list[Run] = []
        self.run = self.begin("advise", "localhost", "--json", "--size", "10TB", *SEEDED)
        self.done = self.run.finish()

    @property
    def events(self) -> list[dict[str, Any]]:
        return self.run.events

    def begin(self, *arguments: str) -> Run:
        """Another command of the same user."""
        self._runs.append(Run(self.home, list(arguments)))
        return self._runs[-1]

    def kill(self) -> None:
        for run in self._runs:
            run.kill()


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    one = Session(tmp_path_factory.mktemp("home"))
    yield one
    one.kill()
    assert wait_until(lambda: not children_left(one.home)), children_left(one.home)


@pytest.mark.as_root
def test_the_main_job(session: Session) -> None:
    assert session.done.returncode == 0, session.done.stderr
    validator = jsonschema.Draft202012Validator(schema())
    for event in session.events:
        validator.validate(event)
    kinds = [event["event"] for event in session.events]
    assert kinds[0] == "session_started"
    assert kinds[-1] == "advice"
    assert {"path_found", "history_found", "interval", "method_moved"} <= set(kinds)
    ended = [e for e in session.events if e["event"] == "probe_ended"]
    measured = {e["transport"] for e in ended if e["result"]["outcome"] == "measured"}
    # UDT is left out where one stream and many reach the same rate.
    why_not = next(e for e in session.events if e["event"] == "stage_ended" and e["stage"] == "udt")
    assert measured == {"tcp", "udt"} or why_not["reason"].startswith("not measured"), why_not
    assert "Traceback" not in session.done.stderr
    shown = session.begin("history", "replay", "localhost").finish()
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith("Advice for ")
    assert shown.stderr.count("retransmits") + shown.stderr.count("bit/s") >= len(ended)


@pytest.mark.as_root
def test_the_last_line_is_what_was_promised(session: Session) -> None:
    advice = session.events[-1]
    assert advice["event"] == "advice"
    assert advice["transport"] in ("tcp", "udt")
    assert set(advice["pair"]) == {"source", "destination"}
    lower, upper = advice["interval_bps"]
    assert 0 < lower <= advice["expected_bps"] <= upper
    assert advice["default_bps"] > 0
    assert advice["gain"]["interval"][0] <= advice["gain"]["value"]
    assert advice["incomplete"] is False
    assert advice["reasons"]
    tools = {command["tool"] for command in advice["commands"]}
    # Those that are installed; else both, so that there is something to read.
    usual = {"globus-url-copy", "xdd"}
    installed = {name for name in usual if shutil.which(name)}
    assert tools == (installed or usual) or not (installed or tools & usual)
    for command in advice["commands"]:
        assert command["argv"]
        assert command["shell"]
        assert command["side"] in ("source", "destination")


@pytest.mark.as_root
def test_intervals_are_streamed_and_short(session: Session) -> None:
    intervals = [e for e in session.events if e["event"] == "interval"]
    assert len(intervals) > 10
    # At most half a second each, but for what a busy machine adds.
    typical = sorted(e["end_s"] - e["start_s"] for e in intervals)[len(intervals) // 2]
    assert typical <= 1.0


@pytest.mark.as_root
def test_measurements_carry_both_ends(session: Session) -> None:
    results = [e["result"] for e in session.events if e["event"] == "probe_ended"]
    results = [r for r in results if r["outcome"] == "measured"]
    # On a busy host a probe may be over before an end has reported twice.
    results = [r for r in results if r["sender"] and r["receiver"]]
    assert results
    for result in results:
        assert result["sender"]["process_cores"] >= 0
        assert 0 <= result["receiver"]["host_share"] <= 1
        assert result["rtt_s"] > 0
        assert result["retransmits"] >= 0
        assert set(result["granted"]) == {"send_buffer_bytes", "receive_buffer_bytes"}
        assert any(name.startswith("source lib") for name in result["versions"])
        assert any(name.startswith("destination lib") for name in result["versions"])


@pytest.mark.as_root
def test_every_probe_and_the_advice_are_stored(session: Session) -> None:
    probes = [e for e in session.events if e["event"] == "probe_ended"]
    shown = session.begin("history", "show", "localhost", "--json")
    text = shown.finish().stdout
    assert shown.process.returncode == 0
    assert text.count('"record":"probe"') == len(probes) or len(probes) == len(
        re.findall(r'"record": ?"probe"', text)
    )
    assert session.events[-1]["session"] in text


@pytest.mark.as_root
def test_history_can_be_taken_instead(session: Session) -> None:
    again = session.begin("advise", "localhost", "--json", "--accept-history")
    assert again.finish().returncode == 0
    assert again.events[-1]["event"] == "advice"
    assert again.events[-1]["basis"] == "history"
    assert not any(e["event"].startswith("probe") for e in again.events)


@pytest.mark.as_root
def test_a_tool_slower_than_the_network_sets_the_expectation(session: Session) -> None:
    store = Store(session.home / "data/advisor/history")
    [pair] = store.stored_pairs()
    [path, *_] = (r.path for r in store.records(pair) if isinstance(r, SessionRecord))
    own_bps = session.events[-1]["expected_bps"] / 4
    for subject, stage, bps in (
        ("tcp", NETWORK, 4 * own_bps),
        ("globus-url-copy", "globus-url-copy", own_bps / 2),
        (TOOL_IN_MEMORY, TOOL_IN_MEMORY, own_bps),
    ):
        record = ProbeRecord(
            pair=pair,
            subject=subject,
            setting={"concurrency": 1, "streams": 1, "buffer_bytes": 0},
            result=measured(bps),
            recorded_s=time.time(),
            session="from disk to disk",
            stage=stage,
            **path_fields(path, path.rtt_s),
        )
        store.append(record)
    again = session.begin("advise", "localhost", "--json", "--accept-history", "--size", "1TB")
    assert again.finish().returncode == 0
    advice = again.events[-1]
    assert advice["expected_bps"] == pytest.approx(own_bps)
    assert advice["transfer_s"]["value"] == pytest.approx(8e12 / own_bps)
    assert advice["tool_ceiling"]["tool"] == "globus-url-copy"
    assert advice["tool_ceiling"]["network"]["value"] > 2 * own_bps


def test_text_for_people(start: Start) -> None:
    run = start("advise", "localhost", "--size", "10TB", *SHORT)
    out, err = run.process.communicate(timeout=60)
    assert run.process.returncode == 0
    for word in ("Advice for", "use ", "expect", "default", "takes", "Why", "Run"):
        assert word in out
    assert "globus-url-copy" in out
    for word in ("history", "baseline", "TCP, 1 stream", "udt", "confirm"):
        assert word in err
    assert "\x1b" not in out + err


def test_each_congestion_control_is_a_run_of_its_own(start: Start) -> None:
    run = start("advise", "localhost", "--json", "--congestion", "cubic,reno", "--budget", "12")
    assert run.finish().returncode == 0
    stages = [e["stage"] for e in run.events if e["event"] == "stage_started"]
    # Where a thread fills its core, the streams are spread over more processes.
    stages = [stage for stage in stages if stage != SPREAD]
    assert stages == ["baseline", "tcp/cubic", "tcp/reno", "udt", "confirm"]


def test_a_congestion_control_nobody_has_is_refused(start: Start) -> None:
    run = start("advise", "localhost", "--congestion", "warp")
    done = run.finish()
    assert done.returncode == 2
    assert "warp" in done.stderr
    assert "modprobe" in done.stderr
    # A question that cannot be answered is nothing to resume.
    assert "no interrupted session" in start("resume").finish().stderr


def test_a_budget_too_short_for_the_round_trip_time_is_refused(start: Start) -> None:
    done = start("advise", "localhost", "--rtt", "500ms", "--budget", "10").finish()
    assert done.returncode == 2
    assert "--budget 10 is too short for one probe" in done.stderr
    assert "give at least" in done.stderr


def test_ctrl_c_once_gives_the_best_so_far_and_resume_continues(start: Start) -> None:
    # For this much, a search that has begun is worth more than the one probe that it may need.
    run = start("advise", "localhost", "--json", *TCP_ALONE, "--size", "100TB")
    run.wait_for("probe_ended", purpose="search")
    run.process.send_signal(signal.SIGINT)
    done = run.finish()
    assert done.returncode == 130
    advice = run.events[-1]
    assert advice["event"] == "advice"
    assert advice["incomplete"] is True
    before = [e for e in run.events if e["event"] == "probe_ended"]

    resumed = start("resume", "--json")
    assert resumed.finish().returncode == 0
    assert resumed.events[0]["resumed"] is True
    assert resumed.events[0]["session"] == advice["session"]
    assert resumed.events[0]["budget_s"] < 24
    first = next(e for e in resumed.events if e["event"] == "probe_started")
    assert first["ordinal"] == len(before) + 1
    assert first["purpose"] != "baseline", "the defaults are not measured again"
    assert resumed.events[-1]["incomplete"] is False
    assert start("resume").finish().returncode == 2


def test_a_session_that_ended_is_continued_for_more(start: Start) -> None:
    first = start("advise", "localhost", "--json", *TCP_ALONE)
    assert first.finish().returncode == 0
    assert start("resume").finish().returncode == 2
    more = start("resume", "--json", "--more", "8s")
    assert more.finish().returncode == 0
    assert more.events[0]["session"] == first.events[0]["session"]
    probes = [e for e in more.events if e["event"] == "probe_ended"]
    before = [e for e in first.events if e["event"] == "probe_ended"]
    assert probes
    assert probes[0]["ordinal"] == len(before) + 1
    assert more.events[-1]["event"] == "advice"


def test_ctrl_c_before_anything_is_measured(start: Start) -> None:
    run = start("advise", "localhost", "--json")
    run.wait_for("probe_started")
    run.process.send_signal(signal.SIGINT)
    done = run.finish()
    assert done.returncode == 130
    assert run.events[-1]["event"] == "gave_up"
    assert "interrupted" in done.stderr


def test_a_reader_that_leaves_is_no_traceback(start: Start) -> None:
    run = start("advise", "localhost", "--json", *SHORT)
    run.wait_for("probe_ended")
    assert run.process.stdout is not None
    run.process.stdout.close()
    assert run.process.stderr is not None
    narration = run.process.stderr.read()
    assert run.process.wait(timeout=30) == 1
    assert "Traceback" not in narration


def test_ctrl_c_twice_leaves_now(start: Start) -> None:
    run = start("advise", "localhost", "--json")
    run.wait_for("interval")
    run.process.send_signal(signal.SIGINT)
    run.process.send_signal(signal.SIGINT)
    done = run.finish(timeout_s=40)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr


@pytest.mark.as_root
def test_killed_outright_it_leaves_no_child(start: Start, tmp_path: Path) -> None:
    run = start("advise", "localhost", "--json")
    run.wait_for("interval")
    run.process.kill()
    assert wait_until(lambda: not children_left(tmp_path))


def test_two_advisors_at_once_take_turns(start: Start) -> None:
    both = [start("advise", "localhost", "--json", *TCP_ALONE) for _ in range(2)]
    for run in both:
        done = run.finish()
        assert done.returncode == 0, done.stderr
        assert run.events[-1]["event"] == "advice"
    assert any(e["event"] == "waiting" for run in both for e in run.events)
    sessions = {run.events[-1]["session"] for run in both}
    probes = sum(e["event"] == "probe_ended" for run in both for e in run.events)
    exported = start("history", "export", "--format", "jsonl").finish().stdout.splitlines()
    records = [json.loads(line) for line in exported]
    assert {r["session"] for r in records if r["record"] == "probe"} == sessions
    assert sum(r["record"] == "probe" for r in records) == probes


@pytest.mark.as_root
@pytest.mark.namespaces
def test_a_full_disk_ends_the_session_with_a_sentence(start: Start, small_disk: Path) -> None:
    run = start("advise", "localhost", "--json", "--store", str(small_disk / "store"), *TCP_ALONE)
    done = run.finish()
    assert "Traceback" not in done.stderr
    assert str(small_disk) in done.stderr
    assert "space" in done.stderr
    assert run.events[-1]["event"] in ("advice", "gave_up")
    assert run.events[-1].get("incomplete", True)
