"""`advisor share` as a user types it: what is refused, what a session is given, what is printed."""

import json
import math
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from advisor.cli.share.command import share
from advisor.domain import events as ev
from advisor.domain.advice import Command
from advisor.domain.endpoints import Pair
from advisor.domain.records import ShareRecord
from advisor.domain.shares import Asked, Served, ServedRow, ShareOutcome, SharePlan, ShareRow
from advisor.models.shares.estimating import LoadEstimation
from advisor.models.shares.features import Form, Load
from advisor.models.shares.forecast import Modelling
from advisor.runtime.request import AdviceRequest
from advisor.store.history import Store
from advisor.transfer.shared.session import source_name
from tests.commands import invoke

Run = Callable[..., Result]

LEVELS = [(a, b) for a in (1, 2, 3, 4, 6) for b in (1, 2, 4)]


@pytest.fixture(autouse=True)
def _no_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def run(store: Store) -> Run:
    def call(*arguments: str) -> Result:
        return invoke(share, [*arguments, "--store", store.argument])

    return call


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


def _learn(store: Store, *names: str, times: int = 1, streams: int = 8, tool: str = "") -> None:
    """What two destinations get of 1 Gbit/s that goes by files at a time."""
    for number, (own, other) in enumerate(LEVELS * times):
        for name in names:
            served = Served(
                concurrency=own,
                source_concurrency=own + other,
                throughput_bps=1e9 * own / (own + other) * (1 + 0.02 * math.sin(number)),
                when_s=time.time() - 7200 + number,
            )
            store.append(_training(name, served, streams, other, tool))


def _training(name: str, served: Served, streams: int, other: int, tool: str = "") -> ShareRecord:
    return ShareRecord(
        pair=Pair(source_name(), name),
        recorded_s=served.when_s,
        session="feedcafe",
        served=served,
        parallelism=streams,
        others={"other": other},
        purpose="train",
        tool=tool,
    )


def _learn_streams(store: Store, *names: str) -> None:
    """The same, where a file with four times the streams gets twice as much."""
    for number, (own, other) in enumerate(LEVELS):
        streams = (2, 4, 8)[number % 3]
        for name in names:
            served = Served(
                concurrency=own,
                source_concurrency=own + other,
                throughput_bps=1e8 * own / (own + other) * streams**0.5,
                parallelism=streams,
                source_streams=own * streams + other * 8,
                when_s=time.time() - 7200 + number,
            )
            store.append(_training(name, served, streams, other))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train"], "DESTINATION"),
        (["train", "kraken", "--to", "/x", "--streams", "8-2"], "the least first"),
        (["train", "kraken", "--to", "/x", "--streams", "many"], "a range as in 2-8"),
        (["train", "kraken", "--to", "/x", "--precision", "90%"], "give 1% to 50%"),
        (["train", "kraken"], "--to is missing: name a folder of kraken"),
        (["train", "kraken", "mason", "--to", "kraken=/x"], "--to is missing: name a folder of m"),
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
    _learn(store, "kraken", "mason")
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


def test_models_of_another_tool(run: Run, store: Store) -> None:
    _learn(store, "kraken", times=2)
    _learn(store, "kraken", streams=1, tool="rclone")
    assert "kraken       30 " in run("models").stdout
    done = run("models", "--tool", "rclone")
    assert done.stdout.startswith("Models: log with EL1, 1 stream for each file, by rclone;")
    assert "kraken       15 " in done.stdout
    more = run("more", "kraken", "--tool", "rclone")
    assert more.stdout.startswith("1 stream for each file, by rclone\n")


def test_models_are_shown_as_formulas(run: Run, store: Store) -> None:
    _learn(store, "kraken", "mason")
    lines = run("models").stdout.splitlines()
    assert lines[0] == "Models: log with EL1, 8 streams for each file; errors are means"
    assert re.split(r"\s{2,}", lines[2])[:4] == ["kraken", "15", "1 to 6", "2 to 10"]
    assert re.fullmatch(r"kraken: DT = DC\^0\.\d+ × AEL1\{.*\} × 2\^.* / SC\^0\.\d+", lines[-3])
    only = run("models", "mason", "--model", "linear", "--load", "none").stdout
    assert re.search(r"mason: DT = .* DC − .* SC \+ .*", only)
    assert "kraken" not in only


def test_models_without_any(run: Run) -> None:
    done = run("models")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "advisor share train" in done.stderr
    assert json.loads(run("models", "--json").stdout) == []
    assert "too few" in run("models", "kraken").stdout


def test_models_as_json(run: Run, store: Store) -> None:
    _learn(store, "kraken")
    [one] = json.loads(run("models", "--json").stdout)
    assert (one["destination"], one["samples"], one["concurrency"]) == ("kraken", 15, [1, 6])
    assert one["model"]["form"] == "log"


def test_models_of_other_streams(run: Run, store: Store) -> None:
    _learn(store, "kraken", times=2)
    _learn(store, "kraken", streams=2)
    assert "kraken       30 " in run("models").stdout
    assert "kraken       15 " in run("models", "--streams", "2").stdout


def test_simpler_models_do_worse(run: Run, store: Store) -> None:
    _learn(store, "kraken", "mason")
    head, kraken, mason, mean, *_ = run("models", "--compare").stdout.splitlines()
    assert re.split(r"\s{2,}", head) == [
        *("destination", "log, EL1", "log", "DC only", "SC only", "mean only"),
    ]
    assert [line.split()[0] for line in (kraken, mason, mean)] == ["kraken", "mason", "mean"]
    log, only_dc, only_mean = (float(mean.split()[i].rstrip("%")) for i in (2, 3, 5))
    assert log < only_dc < only_mean
    compared = json.loads(run("models", "--compare", "--json").stdout)
    assert [one["model"] for one in compared[:5]] == [
        *("log", "log", "DC only", "SC only", "mean only"),
    ]
    assert compared[1]["validation_error"] * 100 == pytest.approx(
        float(kraken.split()[2][:-1]), abs=0.06
    )


def test_more_says_what_it_brings_and_costs(run: Run, store: Store) -> None:
    _learn(store, "kraken", "mason", "gordon")
    streams, head, kraken, gordon, total, *sentences = run(
        "more", "kraken=3", "mason=0"
    ).stdout.splitlines()
    assert streams == "8 streams for each file"
    assert [line.split()[:2] for line in (kraken, gordon, total)] == [
        *(["kraken", "3"], ["gordon", "2"], ["all", "5"]),
    ]
    assert re.split(r"\s{2,}", head)[-2:] == ["one more file", "one more stream"]
    text = " ".join(" ".join(sentences).split())
    assert re.match(
        r"One more file at a time gains kraken \S+ Mbit/s and costs the others \S+ Mbit/s", text
    )
    assert "What one more stream does was not measured: vary them" in text
    assert "Beyond" not in text


def test_more_says_what_a_stream_does_where_streams_were_varied(run: Run, store: Store) -> None:
    _learn_streams(store, "kraken", "gordon")
    *_, last = run("more", "kraken=3").stdout.split("One more stream ")
    assert last.startswith("for each of its 3 files gains kraken")


def test_more_beyond_what_was_measured_says_so(run: Run, store: Store) -> None:
    _learn(store, "kraken")
    assert "Beyond what was measured: kraken 7 (1 to 6 measured)" in run("more", "kraken=6").stdout


def test_more_as_json_is_in_figures(run: Run, store: Store) -> None:
    _learn_streams(store, "kraken", "mason")
    found = json.loads(run("more", "kraken", "--json").stdout)
    assert (found["destination"], found["levels"]) == ("kraken", {"kraken": 2, "mason": 2})
    streams, file, stream = found["parallelism"], found["by_file"][0], found["by_stream"][0]
    assert file["before_bps"] == pytest.approx(stream["before_bps"])
    grown = stream["after_bps"] / stream["before_bps"]
    assert grown == pytest.approx(((streams + 1) / streams) ** 0.5, rel=0.02)


def test_more_as_json_has_no_figures_of_streams_that_were_not_varied(
    run: Run, store: Store
) -> None:
    _learn(store, "kraken", "mason")
    assert json.loads(run("more", "kraken", "--json").stdout)["by_stream"] == []


def test_more_leaves_out_what_too_little_is_known_of(run: Run, store: Store) -> None:
    _learn(store, "kraken")
    served = Served(concurrency=1, source_concurrency=2, throughput_bps=1e8)
    store.append(
        ShareRecord(
            pair=Pair(source_name(), "thin"),
            recorded_s=1.0,
            session="feedcafe",
            served=served,
            parallelism=8,
            others={},
            purpose="run",
        )
    )
    assert "thin" not in run("more", "kraken").stdout
    assert "too little is known about thin" in run("more", "kraken", "thin=1").stderr
