"""Shares with tools that move whole files, with real servers: learnt, planned, and run."""

import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from advisor.domain.records import ShareRecord
from advisor.domain.shares import Served
from advisor.report.ndjson import schema
from advisor.store.history import Store
from tests.benchmarks.disk.files import difference

from .moved import make_files, pair_here
from .program import Start
from .tool_servers import SendingServer, SftpServer
from .transfers import use

FILES = {"many": (30, 2_000), "few": (3, 3_000_000)}
TRAIN = ["--time", "12s", "--step", "2s", "--space", "64MiB", "--most", "2"]
TIMES = 4
"""How often it may measure: on a busy host a client may need a whole step to begin."""

WholeFiles = SftpServer | SendingServer


class Shares:
    """`advisor share` from this host to one server on it."""

    def __init__(self, start: Start, server: WholeFiles) -> None:
        self.start = start
        self.server = server

    def events(self, command: str, *words: str) -> list[dict[str, Any]]:
        """What it tells to its end, which must be one without an error."""
        run = self.start("share", command, *words, "--server", self.server.url, "--json")
        done = run.finish()
        assert done.returncode == 0, done.stdout + done.stderr
        validator = jsonschema.Draft202012Validator(schema())
        for event in run.events:
            validator.validate(event)
        return run.events

    def train(self) -> list[dict[str, Any]]:
        """Until enough is known for a model."""
        learnt: list[dict[str, Any]] = []
        to = ["--to", str(self.server.folder), "--tool", self.server.tool]
        for _ in range(TIMES):
            learnt += self.events("train", "localhost", *to, *TRAIN)
            models = self.start("share", "models", "--json").finish()
            if '"model":null' not in models.stdout.replace(" ", ""):
                return learnt
        raise AssertionError(models.stdout)


@pytest.mark.parametrize(
    "every_server", ["rclone", pytest.param("xrdcp", marks=pytest.mark.soak)], indirect=True
)
def test_shares_are_learnt_and_kept_with_a_tool_of_whole_files(
    start: Start, every_server: WholeFiles, tmp_path: Path
) -> None:
    shares = Shares(start, every_server)
    learnt = shares.train()
    rows = [row for one in learnt if one["event"] == "shares_seen" for row in one["rows"]]
    assert {row["parallelism"] for row in rows} == {1}
    assert {row["concurrency"] for row in rows} == {1, 2}
    assert list(every_server.folder.glob("*advisor*")) == []

    source = make_files(tmp_path / "source", FILES)
    # The tool is that of the measurements.
    plan = ["localhost=@2", "--data", str(source), "--to"]
    planned = shares.events("plan", *plan, str(every_server.folder / "typed"))[-1]["plan"]
    assert planned["tool"] == every_server.tool
    [command] = planned["commands"]
    subprocess.run(command["shell"], shell=True, check=True, timeout=60)
    assert not difference(source, every_server.folder / "typed")

    moved = shares.events("plan", *plan, str(every_server.folder / "run"), "--run")
    notices = " ".join(one["message"] for one in moved if one["event"] == "notice")
    assert f"{every_server.tool} moves whole files" in notices
    [ended] = [one for one in moved if one["event"] == "destination_ended"]
    assert ended["complete"]
    assert ended["files"] == sum(number for number, _ in FILES.values())
    assert not difference(source, every_server.folder / "run")


@pytest.mark.parametrize("every_server", ["xrdcp"], indirect=True)
def test_streams_are_refused_where_a_file_goes_over_one(
    start: Start, every_server: WholeFiles
) -> None:
    to = ["--to", str(every_server.folder), *use(every_server), "--streams", "4"]
    done = start("share", "train", "localhost", *to, *TRAIN).finish()
    assert done.returncode == 3
    assert "xrdcp moves a file over one stream: leave out --streams" in done.stderr
    assert list(every_server.folder.glob("*advisor*")) == []


def test_a_tool_of_the_history_that_is_not_known_here_is_one_sentence(
    start: Start, tmp_path: Path
) -> None:
    store = Store(tmp_path / "history")
    for number in range(6):
        served = Served(concurrency=1, source_concurrency=2 + number, throughput_bps=1e8)
        store.append(
            ShareRecord(
                pair=pair_here(),
                recorded_s=1.7e9 + number,
                session="s",
                served=served,
                parallelism=1,
                others={},
                purpose="train",
                tool="frobnicate",
            )
        )
    done = start("share", "plan", "localhost=@1", "--store", str(tmp_path / "history")).finish()
    assert done.returncode == 2
    assert "most measurements are of the tool 'frobnicate', which cannot be used" in done.stderr
