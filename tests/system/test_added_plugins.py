"""A method, a transport and a tool from a folder are used as those that come with the program are.

Their files, tests/data/added_plugins, import advisor.api alone; nothing in advisor/ knows of them.
"""

import json
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

from advisor.domain.records import AdviceRecord
from advisor.store.history import Store
from tests.benchmarks.disk.files import difference

from .moved import make_files, pair_here
from .program import Run, Start

ADDED: Final = Path(__file__).parents[1] / "data" / "added_plugins"


class Started:
    """`advisor` with the added plugins in a temporary folder."""

    def __init__(self, start: Start, folder: Path) -> None:
        self._start = start
        self._environment = {"ADVISOR_PLUGINS": str(shutil.copytree(ADDED, folder))}

    def __call__(self, *arguments: str) -> Run:
        return self._start(*arguments, environment=self._environment)

    def said(self, *arguments: str) -> str:
        """What a command printed that succeeded."""
        done = self(*arguments).finish()
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def advisor(start: Start, tmp_path: Path) -> Started:
    return Started(start, tmp_path / "added")


def test_they_are_offered(advisor: Started) -> None:
    listed = [json.loads(line) for line in advisor.said("plugins", "--json").splitlines()]
    added = {(one["kind"], one["name"]) for one in listed if one["origin"] != "bundled"}
    assert added == {("methods", "wander"), ("transports", "pipes"), ("tools", "carrier")}
    checkup = json.loads(advisor("doctor", "--json").finish().stdout)
    purposes = {one["name"]: one["purpose"] for one in checkup["software"]}
    assert purposes["pipes"] == "profile Pipes"
    assert purposes["carrier"] == "transfer with carrier"


def test_a_session_measures_compares_and_stores_them(advisor: Started, tmp_path: Path) -> None:
    store = tmp_path / "store"
    run = advisor(
        *("advise", "localhost", "--json", "--size", "100TB", "--seed", "1", "--budget", "30"),
        *("--transports", "pipes,tcp", "--method", "wander", "--store", str(store)),
    )
    done = run.finish()
    assert done.returncode == 0, done.stderr
    searched = [e for e in run.events if e["event"] == "probe_started" and e["label"] == "w"]
    # Only what may still win is searched.
    assert {probe["transport"] for probe in searched} & {"pipes", "tcp"}
    advice = run.events[-1]
    assert "pipes" in {one["transport"] for one in advice["contenders"]}
    assert {command["tool"] for command in advice["commands"]} >= {"carrier", "globus-url-copy"}
    history = Store(store)
    assert "pipes" in {probe.subject for probe in history.probes(pair_here())}
    assert any(isinstance(one, AdviceRecord) for one in history.records(pair_here()))
    replayed = advisor("history", "replay", "localhost", "--store", str(store)).finish()
    assert "Pipes, " in replayed.stdout + replayed.stderr


def test_a_transfer_is_moved_by_the_tool_and_tuned_by_the_method(
    advisor: Started, tmp_path: Path
) -> None:
    source = make_files(tmp_path / "source", {"files": (30, 2_000_000)})
    store, target = tmp_path / "store", tmp_path / "there"
    run = advisor(
        *("transfer", str(source), "localhost", "--to", str(target), "--json"),
        *("--method", "wander", "--epoch", "1s", "--max-concurrency", "4", "--max-streams", "2"),
        *("--bandwidth", "1Gbit", "--rtt", "20ms", "--store", str(store)),
    )
    done = run.finish()
    assert done.returncode == 0, done.stderr
    assert not difference(source, target)
    end: dict[str, Any] = run.events[-1]
    assert (end["event"], end["complete"], end["files"]) == ("transfer_ended", True, 30)


def test_a_method_is_replayed_also_by_a_former_name(advisor: Started) -> None:
    lines = advisor.said(
        *("backtest", "synthetic", "--method", "stray,sweep", "--seeds", "1"),
        *("--budget", "4", "--json"),
    ).splitlines()
    last = json.loads(lines[-1])
    assert {"wander", "sweep"} <= set(last["methods"])
