"""`advisor plan` on this host: real server and client, files of all sizes."""

import itertools
import signal
import subprocess
from pathlib import Path

import jsonschema
import pytest

from advisor.domain.records import TransferRecord
from advisor.report.ndjson import schema
from advisor.store.history import Store
from tests.benchmarks.disk.files import difference

from .moved import keep_sweep, make_files, pair_here
from .program import Run, Start
from .tool_servers import Server
from .transfers import AnyServer, use

# Of a path on which the files below are tiny, small and medium.
PATH = ["--bandwidth", "1Gbit", "--rtt", "20ms"]
GROUPS = {"tiny": (80, 20_000), "small": (12, 1_500_000), "medium": (2, 15_000_000)}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return make_files(tmp_path / "run 42", GROUPS)


def _plan(start: Start, server: Server, source: Path, *options: str) -> Run:
    return start(
        *("plan", str(source), "localhost", "--to", str(server.folder / "there"), *PATH),
        *("--server", server.url, *options),
    )


def _with_history(store: Store) -> None:
    """A sweep of each class, with its best at 4 files at a time and 2 streams."""
    rates_bps = {
        (files, streams): 4e8 * (1 - 0.045 * (files - 4) ** 2 - 0.05 * (streams - 2) ** 2)
        for files, streams in itertools.product((1, 2, 4, 8), (1, 2, 4))
    }
    for _, size_bytes in GROUPS.values():
        keep_sweep(store, rates_bps, file_bytes=size_bytes, files=100)


def test_a_plan_is_printed_and_its_script_moves_everything(
    start: Start, server: Server, source: Path, tmp_path: Path
) -> None:
    done = _plan(start, server, source, "--lists", str(tmp_path / "lists")).finish()
    assert done.returncode == 0, done.stderr
    for words in ("tiny", "small", "medium", "not known", "No past transfer", "run.sh"):
        assert words in done.stdout
    assert not (server.folder / "there").exists()
    assert done.stdout.count("globus-url-copy -vb") == 3
    subprocess.run([tmp_path / "lists/run.sh"], check=True, capture_output=True, timeout=60)
    assert not difference(source, server.folder / "there")


@pytest.mark.parametrize("run", [True, False], ids=["run", "script"])
def test_every_tool_moves_everything(
    start: Start, every_server: AnyServer, source: Path, tmp_path: Path, run: bool
) -> None:
    """Also one that moves whole files, over one connection each."""
    there = every_server.folder / "there"
    done = start(
        *("plan", str(source), "localhost", "--to", str(there), *PATH, *use(every_server)),
        *("--lists", str(tmp_path / "lists"), *(["--run"] if run else [])),
    ).finish()
    assert done.returncode == 0, done.stderr
    if every_server.tool != "globus-url-copy":
        assert f"{every_server.tool} moves whole files" in done.stderr
    if not run:
        assert not there.exists()
        script = tmp_path / "lists/run.sh"
        subprocess.run([script], check=True, capture_output=True, timeout=60)
    assert not difference(source, there)


@pytest.mark.parametrize("method", ["harp", "globus", "single-chunk", "promc"])
def test_every_method_moves_everything(
    start: Start, server: Server, source: Path, method: str
) -> None:
    run = _plan(start, server, source, "--run", "--json", "--method", method)
    done = run.finish()
    assert done.returncode == 0, done.stderr
    validator = jsonschema.Draft202012Validator(schema())
    for event in run.events:
        validator.validate(event)
    assert not difference(source, server.folder / "there")
    end = run.events[-1]
    assert end["event"] == "transfer_ended"
    assert end["complete"]
    assert end["files"] == 94
    assert end["moved_bytes"] == 80 * 20_000 + 12 * 1_500_000 + 2 * 15_000_000


def test_samples_are_part_of_the_transfer_and_of_the_history(
    start: Start, server: Server, source: Path, tmp_path: Path
) -> None:
    store = Store(tmp_path / "store")
    _with_history(store)
    known = len(store.transfers())
    run = _plan(start, server, source, *("--run", "--sample", "--json", "--store", store.argument))
    done = run.finish()
    assert done.returncode == 0, done.stderr
    assert not difference(source, server.folder / "there")
    plans = [event for event in run.events if event["event"] == "plan_made"]
    assert [plan["final"] for plan in plans] == [False, True]
    for one in plans[0]["plan"]["classes"]:
        assert one["evidence"]["similar"] > 0
        assert one["expected_bps"] > 0
    assert "pay" in plans[0]["plan"]["pay_off"]
    stored = Store(tmp_path / "store")
    [record] = [r for r in stored.records(pair_here()) if isinstance(r, TransferRecord)]
    assert record.total_bytes == 80 * 20_000 + 12 * 1_500_000 + 2 * 15_000_000
    # As many as there was time for before a class was over.
    samples = [p for p in stored.probes(pair_here()) if p.label == "sample"]
    assert len(stored.transfers()) == known + len(samples)


def test_the_history_decides(start: Start, server: Server, source: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    _with_history(store)
    run = _plan(start, server, source, "--json", "--store", store.argument)
    assert run.finish().returncode == 0
    [made] = [event for event in run.events if event["event"] == "plan_made"]
    small = made["plan"]["classes"][1]
    assert small["size"] == "small"
    assert small["evidence"]["groups"]
    assert 2 <= small["alone"]["concurrency"] <= 5


def test_ctrl_c_ends_it_at_once_and_says_what_is_there(
    start: Start, server: Server, tmp_path: Path
) -> None:
    folder = tmp_path / "large"
    folder.mkdir()
    for number in range(8):
        with (folder / str(number)).open("wb") as sparse:
            sparse.truncate(2**33)
    run = _plan(start, server, folder, "--run", "--json")
    run.wait_for("files_moving")
    run.process.send_signal(signal.SIGINT)
    done = run.finish(30)
    assert done.returncode == 130
    end = run.events[-1]
    assert end["event"] == "transfer_ended"
    assert not end["complete"]
    assert end["message"].startswith("stopped: ")


def test_a_server_that_is_not_there(start: Start, server: Server, source: Path) -> None:
    server.end()
    run = _plan(start, server, source, "--run", "--json")
    done = run.finish()
    assert done.returncode == 1
    end = run.events[-1]
    assert end["event"] == "transfer_ended"
    assert end["files"] == 0
    assert "0 of 94 files" in end["message"]


def test_files_that_cannot_be_carried_are_named(start: Start, server: Server, source: Path) -> None:
    (source / "tiny" / "naïve.dat").write_bytes(b"x" * 1000)
    run = _plan(start, server, source, "--run")
    done = run.finish()
    assert done.returncode == 1
    assert "94 of 95 files" in done.stdout
    assert "naïve.dat" in done.stdout


def test_nothing_to_move(start: Start, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = start("plan", str(tmp_path / "empty"), "localhost", "--to", "/x").finish()
    assert done.returncode == 2
    assert "nothing to move" in done.stderr
