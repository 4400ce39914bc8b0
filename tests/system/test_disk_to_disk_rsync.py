"""Profiling rsync: a real sshd, a real rsync at both ends."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.benchmarks.disk.files import difference
from tests.plugins.tools.gridftp_lines import require
from tests.ssh_server import SshServer, needs_sshd

from .conftest import Start

FILES = 40


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "run 42"
    (folder / "below").mkdir(parents=True)
    for number in range(FILES):
        (folder / "below" / f"{number}.dat").write_bytes(os.urandom(500_000))
    (folder / "large").write_bytes(os.urandom(30_000_000))
    return folder


@needs_sshd
@pytest.mark.parametrize(
    "only",
    [pytest.param("", id="folder"), pytest.param("large", id="one file", marks=pytest.mark.soak)],
)
def test_the_advised_line_copies_the_files(
    start: Start, known_sshd: SshServer, source: Path, tmp_path: Path, only: str
) -> None:
    require("rsync")
    data = source / only if only else source
    target = tmp_path / "there"
    run = start(
        *("advise", "localhost", "--tool", "rsync", "--json", "--budget", "20", "--seed", "1"),
        *("--server", f"ssh://127.0.0.1:{known_sshd.port}", "--max-concurrency", "8"),
        *("--data", str(data), "--to", str(target)),
    )
    done = run.finish()
    assert done.returncode == 0, done.stderr
    ended = [event for event in run.events if event["event"] == "probe_ended"]
    results = [event["result"] for event in ended if event["transport"] == "rsync"]
    assert results
    assert not [one for one in results if one["outcome"] != "measured"]
    # What the kernel says of ssh's connections, which rsync itself does not know.
    assert all(one["rtt_s"] for one in results)
    assert not target.exists(), "what the probes moved is taken away again"
    assert not list(tmp_path.glob(".advisor*"))
    advice = run.events[-1]
    assert advice["event"] == "advice"
    [command] = advice["commands"]
    assert subprocess.run(command["shell"], shell=True, check=False).returncode == 0
    assert not difference(data, target)
