"""`advisor profile` on localhost with real probes: measured, interrupted, resumed, compared."""

import json
import os
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from advisor.agent.secret import new_secret, write_secret
from advisor.report.ndjson import schema

from .program import Start

CELLS_OF_GRID = [
    *("--set", "streams=1,2", "--set", "buffer=auto,256KiB", "--transports", "tcp"),
    *("--congestion", "reno", "--seed", "7"),
]
GRID = [*CELLS_OF_GRID, "--repeats", "2"]
ONCE = [*CELLS_OF_GRID, "--repeats", "1"]
CELLS = {(streams, size) for streams in (1, 2) for size in (0, 262144)}


def measured(events: list[dict[str, Any]]) -> list[tuple[int, int]]:
    return [
        (event["setting"]["streams"], event["setting"]["buffer_bytes"])
        for event in events
        if event["event"] == "probe_ended" and event["result"]["outcome"] == "measured"
    ]


def test_a_grid_is_measured_to_its_end(start: Start) -> None:
    run = start("profile", "localhost", "--name", "mine", "--json", *GRID)
    done = run.finish()
    assert done.returncode == 0, done.stderr
    validator = jsonschema.Draft202012Validator(schema())
    for event in run.events:
        validator.validate(event)
    begun = next(event for event in run.events if event["event"] == "profile_started")
    assert (begun["probes"], begun["earlier"]) == (8, 0)
    assert run.events[-1]["event"] == "profile_ended"
    assert run.events[-1]["complete"]
    order = measured(run.events)
    assert Counter(order) == dict.fromkeys(CELLS, 2)
    assert set(order[:4]) == CELLS
    shown = start("profile", "show", "mine").finish().stdout
    assert "8 measurements" in shown
    assert "256 KiB" in shown
    # Its measurements are part of the history, as those of any session.
    pair = json.loads(start("history", "show", "localhost", "--json").finish().stdout)
    # One that failed on a busy machine is kept as well, and was made again.
    outcomes = [probe["result"]["outcome"] for probe in pair["probes"]]
    assert outcomes.count("measured") == 8
    assert "there is no interrupted session" in start("resume").finish().stderr
    made = start("profile", "localhost", "--from-history", "--name", "all").finish()
    assert f"made of {len(outcomes)} stored probes" in made.stdout
    compared = start("profile", "compare", "mine", "all").finish().stdout
    assert "0 of 4 common settings changed clearly" in compared


@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.soak), signal.SIGKILL],
)
def test_one_that_was_cut_short_is_resumed_where_it_stopped(
    start: Start, number: signal.Signals
) -> None:
    first = start("profile", "localhost", "--name", "mine", "--json", *ONCE)
    # A probe that failed is reported, and repeated.
    while len(measured(first.events)) < 2:
        first.wait_for("probe_ended")
    os.kill(first.process.pid, number)
    status = first.finish().returncode
    assert status == (-9 if number == signal.SIGKILL else 130)
    if number != signal.SIGKILL:
        assert not first.events[-1]["complete"]
        assert "advisor profile resume" in first.events[-1]["message"]
    assert "left" in start("profile", "list").finish().stdout
    second = start("profile", "resume", "--json")
    assert second.finish().returncode == 0
    begun = next(event for event in second.events if event["event"] == "profile_started")
    assert begun["earlier"] >= 2
    # A killed one may have stored a probe without saying so.
    pair = json.loads(start("history", "show", "localhost", "--json").finish().stdout)
    settings = [p["setting"] for p in pair["probes"] if p["result"]["outcome"] == "measured"]
    stored = Counter((one["streams"], one["buffer_bytes"]) for one in settings)
    assert stored == dict.fromkeys(CELLS, 1)
    assert start("profile", "resume").finish().returncode == 2


def test_two_at_once_take_turns(start: Start) -> None:
    runs = [start("profile", "localhost", "--name", name, "--json", *ONCE) for name in "ab"]
    for run in runs:
        assert run.finish().returncode == 0
        assert Counter(measured(run.events)) == dict.fromkeys(CELLS, 1)


def test_nobody_there_is_one_sentence(start: Start, tmp_path: Path) -> None:
    secret = tmp_path / "a secret"
    write_secret(secret, new_secret())
    where = ("--agent", "127.0.0.1:9", "--secret-file", str(secret))
    done = start("profile", "127.0.0.1", *where, *GRID).finish()
    assert done.returncode == 3
    assert "127.0.0.1:9" in done.stderr
    assert "Traceback" not in done.stderr
    assert "no profiles of yours" in start("profile", "list").finish().stderr
