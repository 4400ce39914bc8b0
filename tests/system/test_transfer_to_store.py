"""`advisor transfer` with s5cmd, to a store that serves a folder which the agent sees."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.benchmarks.disk.files import difference
from tests.s3_server import S3Server, s3_server, with_s5cmd

from .moved import make_files
from .program import Run, Start, wait_until
from .transfers import PATH

FILES = {"small": (40, 20_000), "large": (3, 8_000_000)}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    monkeypatch.setenv("PATH", f"{with_s5cmd(tmp_path)}:{os.environ['PATH']}")
    with s3_server(tmp_path / "s3") as one:
        yield one


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return make_files(tmp_path / "run 42", FILES)


def transfer(start: Start, store: S3Server, source: Path, *options: str) -> Run:
    return start(
        *("transfer", str(source), "localhost", "--json", "--tool", "s5cmd", *PATH),
        *("--server", f"{store.url}/bucket/there", "--to", str(store.served / "bucket" / "there")),
        *("--max-concurrency", "4", "--max-streams", "2", *options),
        environment=store.credentials,
    )


def test_it_is_interrupted_and_resumed(start: Start, store: S3Server, source: Path) -> None:
    target = store.served / "bucket" / "there"
    run = transfer(start, store, source, "--max-rate", "40Mbit")
    run.wait_for("transfer_started")
    assert wait_until(lambda: any(target.rglob("*.dat")))
    run.process.send_signal(signal.SIGINT)
    assert run.finish().returncode == 130
    again = transfer(start, store, source)
    done = again.finish()
    assert done.returncode == 0, done.stderr
    assert again.events[-1]["complete"]
    assert not difference(source, target)


def test_what_the_store_changed_is_no_success(start: Start, store: S3Server, source: Path) -> None:
    """The store is another's: what it keeps is compared with what was sent."""
    target = store.served / "bucket" / "there"
    run = transfer(start, store, source, "--verify", "--max-rate", "20Mbit")
    run.wait_for("transfer_started")
    assert wait_until(lambda: any(target.rglob("*.dat")))
    [victim, *_] = target.rglob("*.dat")
    victim.write_bytes(bytes(victim.stat().st_size))
    done = run.finish()
    arrived_whole = done.returncode == 0 and not difference(source, target)
    assert done.returncode != 0 or arrived_whole, "moved again, or reported"
