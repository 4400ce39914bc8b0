"""Profiling aria2c: a real web server here, a real aria2c that a real sshd starts there."""

import os
from pathlib import Path

import pytest

from tests.plugins.tools.gridftp_lines import require
from tests.ssh_server import SshServer, needs_sshd
from tests.web_server import web_server

from .moved import assert_the_line_copies
from .program import Start

FILES = 40


@pytest.fixture
def without_aria2c_here(
    known_sshd: SshServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who logs in to the server has it."""
    require("aria2c")
    programs = tmp_path / "programs"
    programs.mkdir()
    own, *folders = os.environ["PATH"].split(":")
    for folder in reversed(folders):
        for program in Path(folder).glob("*"):
            if program.name != "aria2c":
                (programs / program.name).unlink(missing_ok=True)
                (programs / program.name).symlink_to(program)
    monkeypatch.setenv("PATH", f"{own}:{programs}")
    assert known_sshd.process.poll() is None


@needs_sshd
@pytest.mark.usefixtures("without_aria2c_here")
def test_the_advised_line_fetches_the_files(start: Start, tmp_path: Path) -> None:
    data, target = tmp_path / "served" / "run 42", tmp_path / "there"
    (data / "below").mkdir(parents=True)
    for number in range(FILES):
        (data / "below" / f"{number}.dat").write_bytes(os.urandom(500_000))
    (data / "large").write_bytes(os.urandom(30_000_000))
    with web_server(data) as server:
        run = start(
            *("advise", "localhost", "--tool", "aria2c", "--json", "--budget", "20", "--seed", "1"),
            *("--server", server.url, "--max-concurrency", "8"),
            *("--data", str(data), "--to", str(target)),
        )
        results = assert_the_line_copies(run, "aria2c", data, target)
        # What the kernel says of the server's connections.
        assert all(one["rtt_s"] for one in results)
