"""Profiling rsync: a real sshd, a real rsync at both ends."""

import os
from pathlib import Path

import pytest

from tests.plugins.tools.gridftp_lines import require
from tests.ssh_server import SshServer, needs_sshd

from .moved import assert_the_line_copies
from .program import Start

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
    results = assert_the_line_copies(run, "rsync", data, target)
    # What the kernel says of ssh's connections, which rsync itself does not know.
    assert all(one["rtt_s"] for one in results)
