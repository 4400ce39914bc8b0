"""`advisor share train` and `plan`: what is refused, what a session is given, what is printed."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from advisor.domain import events as ev
from advisor.domain.advice import Command
from advisor.domain.shares import Asked, ServedRow, ShareOutcome, SharePlan, ShareRow
from advisor.models.shares.estimating import LoadEstimation
from advisor.models.shares.features import Form, Load
from advisor.models.shares.forecast import Modelling
from advisor.runtime.request import AdviceRequest
from advisor.store.history import Store

from .conftest import Run
from .learned import learn


class Session:
    """In place of a session: it is given what it was called with, and tells these events."""

    def __init__(self, events: Sequence[ev.AnyEvent] = (), exit_code: int = 0) -> None:
        self.events = events
        self.exit_code = exit_code
        self.requests: Sequence[AdviceRequest] = ()
        self.options: Any = None

    async def __call__(
        self, requests: Sequence[AdviceRequest], options: Any, *, publish: Any, **_: Any
    ) -> int:
        self.requests, self.options = requests, options
        for event in self.events:
            publish(event)
        return self.exit_code


@pytest.fixture
def planning(monkeypatch: pytest.MonkeyPatch) -> Session:
    session = Session()
    monkeypatch.setattr("advisor.cli.share.plan.share_transfers", session)
    return session


@pytest.fixture
def training(monkeypatch: pytest.MonkeyPatch) -> Session:
    session = Session()
    monkeypatch.setattr("advisor.cli.share.train.train_shares", session)
    return session


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train"], "DESTINATION"),
        (["train", "kraken", "--to", "/x", "--streams", "8-2"], "the least first"),
        (["train", "kraken", "--to", "/x", "--streams", "many"], "a range as in 2-8"),
        (["train", "kraken", "--to", "/x", "--precision", "90%"], "give 1% to 50%"),
        (["train", "kraken"], "--to is missing: name a folder of kraken"),
        (["train", "kraken", "mason", "--to", "kraken=/x"], "--to is missing: name a folder of m"),
        (["train", "kraken", "--to", "x"], "--to 'x': not absolute: write it as in /home/you/"),
        (["train", "kraken", "--to", "/x", "--to", "kraken=~/x"], "--to '~/x': not absolute"),
        (["plan", "kraken=1", "mason=1", "--to", "%h/x"], "--to '%h/x': not absolute"),
        (["train", "kraken=4", "--to", "/x"], "'kraken=4'"),
        (["train", "kraken", "--to", "/x", "--time", "1s"], "--time: 1 s is too short"),
        (["train", "kraken", "--to", "/x", "--time", "1min", "--step", "1min"], "--time: 1 min"),
        (["train", "kraken", "--to", "/x", "--space", "1MB"], "--space: 977 KiB are too few"),
        (["train", "kraken", "--to", "/x", "--data", "/etc"], "--data /etc is no file: name one"),
        (
            ["train", "kraken", "--to", "/x", "--data", "/etc/hostname"],
            "--data /etc/hostname: at least 8 MiB",
        ),
        (["train", "kraken", "--to", "masn=/x"], "'masn' is none of kraken"),
        (["train", "kraken", "--to", "/x", "--tool", "xdd"], "xdd cannot be run by a transfer"),
        (["train", "kraken", "--to", "/x", "--tool", "rclne"], "--tool: "),
        (
            ["train", "kraken", "--to", "/x", "--tool", "rclone", "--space", "64MiB"],
            "--space: 64 MiB are too few: give 128 MiB",
        ),
        (
            ["train", "kraken", "--to", "/x", "--tool", "rclone", "--data", "/etc/hostname"],
            "--data /etc/hostname is no folder: name one",
        ),
        (
            ["train", "kraken", "--to", "/x", "--server", "sftp://kraken"],
            "kraken: server 'sftp://kraken' is no server for it",
        ),
        (
            ["plan", "kraken=1", "mason=1", "--tool", "rclone", "--server", "ftp://%h"],
            "kraken: server 'ftp://kraken' is no server for it",
        ),
        (["plan", "kraken=1", "mason=1", "--server", "masn=ftp://x"], "'masn' is none of kraken"),
        (["plan"], "DESTINATION"),
        (["plan", "kraken=fast"], "write a share as in 4, a rate as in 400Mbit"),
        (["plan", "kraken=4"], "ask for a rate, as in kraken=400Mbit"),
        (["plan", "kraken=1", "kraken=2"], "kraken is named twice"),
        (["plan", "kraken=1", "mason=1", "--most", "masn=8"], "'masn' is none of kraken, mason"),
        (["plan", "kraken=1", "mason=1", "--most", "mason=0"], "--most mason=0: give 1 to"),
        (["plan", "kraken=1", "mason=1", "--most", "mason=8GB/s"], "--most mason=8GB/s: rates"),
        (["plan", "kraken=1", "lab:five:mason=1"], "no source in common"),
        (["plan", "kraken=1", "mason=1", "--run"], "--run needs --data: say what goes to kraken"),
        (
            ["plan", "kraken=1", "mason=1", "--run", "--data", "/etc/hostname", "--to", "mason=/x"],
            "--run needs --to: name the folder on kraken",
        ),
        (["plan", "kraken=1", "mason=1", "--restart"], "--restart is about --run"),
        (["plan", "kraken=1", "mason=1", "--orders"], "--orders is about --run"),
        (["plan", "kraken=1", "mason=1", "--data", "/nonexistent"], "--data /nonexistent: No such"),
        (["plan", "kraken=1", "mason=1", "--model", "cubic"], "cubic"),
        (["more"], "DESTINATION"),
        (
            ["more", "kraken", "--tool", "rclone"],
            "with `advisor share train kraken --to FOLDER --tool rclone`",
        ),
        (["more", "kraken=x"], "as in kraken=3"),
        (["more", "kraken=0"], "kraken=0: nothing goes to it"),
        (["more", "kraken"], "too little is known about kraken"),
        (["models", "a b"], "'a b'"),
    ],
    ids=lambda x: " ".join(x)[:50] if isinstance(x, list) else "",
)
def test_nonsense_is_refused_with_a_remedy(
    arguments: list[str], words: str, run: Run, planning: Session, training: Session
) -> None:
    done = run(*arguments)
    assert done.exit_code == 2, done.output
    assert words in done.stderr
    assert not planning.requests
    assert not training.requests


PLAN = SharePlan(
    source="dtn01",
    parallelism=8,
    model="log with EL1",
    estimate="RTEC",
    rows=[
        ShareRow(
            destination="kraken",
            asked=Asked(share=4),
            asked_bps=2e8,
            concurrency=3,
            expected_bps=1.5e8,
            interval_bps=(1.2e8, 1.9e8),
            samples=30,
            model_error=0.118,
            missed="share 4 is 200 Mbit/s here",
        )
    ],
    commands=[
        Command(
            tool="globus-url-copy",
            side="source",
            argv=["globus-url-copy"],
            shell="globus-url-copy -cc 3 file:///x ftp://kraken/x",
            note="A note.",
        )
    ],
)


def test_a_plan_is_printed_with_its_lines(run: Run, planning: Session) -> None:
    planning.events = [ev.SharesPlanned(at_s=1.0, plan=PLAN)]
    done = run("plan", "kraken=4", "mason=5")
    assert done.exit_code == 0
    head, columns, row, *rest = done.stdout.splitlines()
    assert head.startswith("Shares of dtn01: 150 Mbit/s together")
    assert re.split(r"\s{2,}", columns)[:4] == [
        "destination",
        "requested",
        "as rate",
        "concurrency",
    ]
    assert re.split(r"\s{2,}", row)[:4] == ["kraken", "share 4", "200 Mbit/s", "3"]
    assert "  - kraken: share 4 is 200 Mbit/s here" in rest
    assert "  globus-url-copy -cc 3 file:///x ftp://kraken/x" in rest
    assert max(len(line) for line in [head, columns, row]) <= 80


def test_a_plan_in_a_lab_says_where_its_lines_run(run: Run, planning: Session) -> None:
    planning.events = [ev.SharesPlanned(at_s=1.0, plan=PLAN)]
    done = run("plan", "lab:nowhere:a=4", "lab:nowhere:b=5")
    assert "advisor lab exec nowhere -- " in done.stderr


def test_all_that_was_typed_reaches_the_session(
    run: Run, planning: Session, tmp_path: Path
) -> None:
    (tmp_path / "data").write_bytes(b"x" * 100)
    done = run(
        *("plan", "me@kraken=4", "mason=400Mbit", "gordon=x1.5", "yellow=@3", "--run", "--anew"),
        *("--most", "9", "--most", "mason=300Mbit", "--data", str(tmp_path / "data")),
        *("--to", "/store", "--to", "yellow=/other", "--streams", "4", "--epoch", "10s"),
        *("--patience", "1min", "--model", "linear", "--load", "none", "--estimate", "PT"),
    )
    assert done.exit_code == 0, done.output
    options = planning.options
    assert options.asked == {
        "kraken": Asked(share=4, most=9),
        "mason": Asked(rate_bps=4e8, most=9, ceiling_bps=3e8),
        "gordon": Asked(factor=1.5, most=9),
        "yellow": Asked(held=3, most=9),
    }
    assert options.modelling == Modelling(Form.LINEAR, Load.NONE, LoadEstimation.PT)
    assert (options.parallelism, options.epoch_s, options.retry_s) == (4, 10.0, 60.0)
    assert (options.run, options.delivery_options.restart) == (True, True)
    assert [one.destination_path for one in planning.requests] == [*["/store"] * 3, "/other"]
    assert all(one.dataset and one.dataset.total_bytes == 100 for one in planning.requests)


def test_without_options_the_load_alone_is_not_as_in_the_paper(run: Run, planning: Session) -> None:
    assert run("plan", "kraken", "mason").exit_code == 0
    assert planning.options.modelling == Modelling(Form.LOG, Load.EL1, LoadEstimation.FT)
    assert planning.options.parallelism is None
    assert not planning.options.run
    assert [one.dataset for one in planning.requests] == [None, None]


def test_a_run_ends_with_what_was_asked_beside_what_was_had(
    run: Run, planning: Session, tmp_path: Path
) -> None:
    (tmp_path / "data").write_bytes(b"x" * 100)
    rows = [
        ShareOutcome(destination="kraken", moved_bytes=2**30, rate_bps=3e8, asked_bps=1e8),
        ShareOutcome(destination="mason", moved_bytes=2**30, rate_bps=1e8, asked_bps=3e8),
    ]
    planning.events = [
        ev.SharesPlanned(at_s=1.0, plan=PLAN),
        ev.DestinationEnded(at_s=8.0, destination="mason", complete=False, message="no way there"),
        ev.SharesEnded(
            at_s=9.0, complete=False, message="1 of 2", exit_code=1, elapsed_s=9.0, rows=rows
        ),
    ]
    planning.exit_code = 1
    done = run(
        *("plan", "kraken=1", "mason=3", "--run", "--data", str(tmp_path / "data"), "--to", "/x")
    )
    assert done.exit_code == 0  # Outside main() click has none of what a command returns.
    assert "globus-url-copy" not in done.stdout  # It is done, not to be done.
    *_, message, _, kraken, mason = done.stdout.splitlines()
    assert message == "1 of 2"
    assert kraken.split()[-2:] == ["25%", "75%"]
    assert mason.split()[-2:] == ["75%", "25%"]
    assert "mason: no way there" in done.stderr


@pytest.mark.parametrize("command", ["plan", "train"])
def test_json_is_events_and_nothing_else(
    command: str, run: Run, planning: Session, training: Session
) -> None:
    planning.events = training.events = [
        ev.GaveUp(at_s=1.0, message="none can be served", exit_code=3)
    ]
    done = run(command, "kraken", "mason", "--to", "/x", "--json")
    assert [json.loads(line)["event"] for line in done.stdout.splitlines()] == ["gave_up"]
    assert "none can be served" in run(command, "kraken", "mason", "--to", "/x").stderr


def test_an_experiment_is_reported_and_what_was_learnt_is_shown(
    run: Run, training: Session, store: Store
) -> None:
    learn(store, "kraken", "mason")
    row = ServedRow(destination="kraken", concurrency=2, measured_bps=2.51e7)
    training.events = [
        ev.SharesStarted(
            at_s=1.0,
            session="feedcafe",
            purpose="train",
            source="dtn01",
            concurrency={"kraken": 2},
            parallelism=8,
            epoch_s=10.0,
            lasts_s=300.0,
        ),
        ev.SharesSeen(at_s=11.0, epoch=12, rows=[row]),
        ev.SharesEnded(
            at_s=60.0, complete=True, message="2 measured", exit_code=0, elapsed_s=60.0, rows=[]
        ),
    ]
    done = run(
        *("train", "kraken", "mason", "--to", "/scratch/%h", "--time", "5min", "--step", "10s"),
        *("--streams", "8", "--space", "64MiB"),
    )
    assert done.exit_code == 0, done.output
    assert "at full speed for 5 min; they take up to 64 MiB there" in done.stderr
    assert "step 12: kraken 25.1 Mbit/s with 2" in done.stderr
    message, _, _, kraken, _, following = done.stdout.splitlines()
    assert message == "2 measured"
    assert re.split(r"\s{2,}", kraken)[:4] == ["kraken", "15", "1 to 6", "2 to 10"]
    assert following.endswith(f"advisor share plan kraken=1 mason=1 --store {store.argument}")
    options = training.options
    assert (options.lasts_s, options.step_s, options.streams) == (300.0, 10.0, (8, 8))
    assert (options.precision, options.most) == (0.08, 8)
    assert options.space_bytes == 64 * 2**20
    assert [one.destination_path for one in training.requests] == [
        "/scratch/kraken",
        "/scratch/mason",
    ]


def test_an_experiment_that_taught_too_little_is_to_be_resumed(run: Run, training: Session) -> None:
    done = run("train", "kraken", "--to", "/x")
    assert "Too little is known of kraken: run the same command again" in done.stdout
    assert "share plan" not in done.stdout


def test_one_that_failed_has_taught_nothing(run: Run, training: Session) -> None:
    training.events = [ev.GaveUp(at_s=1.0, message="none can be served", exit_code=3)]
    training.exit_code = 3
    assert run("train", "kraken", "--to", "/x").stdout == ""


def test_each_destination_has_its_server_for_the_tool(run: Run, planning: Session) -> None:
    servers = ("--server", "root://%h:1094", "--server", "mason=root://store")
    done = run("plan", "kraken=1", "me@mason=1", "--tool", "xrdcp", *servers)
    assert done.exit_code == 0, done.output
    assert planning.options.tool == "xrdcp"
    assert [(one.tool, one.server_url) for one in planning.requests] == [
        ("xrdcp", "root://kraken:1094"),
        ("xrdcp", "root://store"),
    ]


def test_an_experiment_with_a_tool_of_whole_files(
    run: Run, training: Session, tmp_path: Path
) -> None:
    for number in range(4):
        (tmp_path / f"{number}").write_bytes(b"x" * 100)
    train = ("train", "kraken", "--to", "/x", "--tool", "rclone", "--data", str(tmp_path))
    done = run(*train)
    assert done.exit_code == 2
    assert "16 files are needed, and 4 of 4 have bytes and fit" in done.stderr
    assert run(*train, "--most", "2").exit_code == 0
    assert training.options.streams is None
    assert [one.tool for one in training.requests] == ["rclone"]
