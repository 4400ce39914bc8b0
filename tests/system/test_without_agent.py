"""Advice where no program may run at the destination: an sshd that offers nothing but SFTP."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.benchmarks.disk.files import difference
from tests.plugins.tools.gridftp_lines import require
from tests.s3_server import s3_server, with_newer_rclone, with_s5cmd
from tests.ssh_server import SshServer, needs_sshd, several_names, ssh_server, ssh_that_knows
from tests.xrootd_server import xrootd_server

from .program import Run, Start, wait_until

pytestmark = needs_sshd
BUDGET = ("--budget", "14", "--seed", "1")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SshServer]:
    require("rclone")
    with ssh_server(tmp_path / "ssh", "ForceCommand internal-sftp") as server:
        programs = ssh_that_knows(tmp_path, several_names(server))
        monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        yield server


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "run 42"
    (folder / "below").mkdir(parents=True)
    for number in range(20):
        (folder / "below" / f"{number}.dat").write_bytes(os.urandom(300_000))
    (folder / "large").write_bytes(os.urandom(20_000_000))
    return folder


def advise(start: Start, source: Path, target: Path, *more: str) -> Run:
    return start(
        *("advise", "dtn", "--without-agent", "--tool", "rclone", "--json", *BUDGET, *more),
        *("--data", str(source), "--to", str(target)),
    )


def test_from_a_server_for_sftp_alone_to_a_line_that_copies(
    start: Start, server: SshServer, source: Path, tmp_path: Path
) -> None:
    target = tmp_path / "there"
    run = advise(start, source, target)
    done = run.finish()
    assert done.returncode == 0, done.stderr
    results = [e["result"] for e in run.events if e["event"] == "probe_ended"]
    rclone = [e["result"] for e in run.events if e.get("transport") == "rclone" and "result" in e]
    assert rclone
    assert not [one for one in results if one["outcome"] != "measured"]
    path = next(e["path"] for e in run.events if e["event"] == "path_found")
    assert path["rtt_method"] in ("icmp", "tcp handshake")
    plan = next(e for e in run.events if e["event"] == "files_planned")
    assert plan["destination"] is None
    assert any("if advisor is killed" in note for note in plan["notes"])
    assert not list(tmp_path.glob("**/.advisor-*"))
    assert not target.exists(), "the nearest existing folder is used"
    advice = run.events[-1]
    assert advice["event"] == "advice"
    [command] = advice["commands"]
    assert subprocess.run(command["shell"], shell=True, check=False).returncode == 0
    assert not difference(source, target)


@pytest.mark.parametrize("tool", ["rclone", pytest.param("s5cmd", marks=pytest.mark.soak)])
def test_a_store(start: Start, source: Path, tmp_path: Path, tool: str) -> None:
    """Nothing of it is on a file system that anybody but the store sees."""
    programs = with_newer_rclone(tmp_path) if tool == "rclone" else with_s5cmd(tmp_path)
    with s3_server(tmp_path / "s3") as store:
        environment = store.environment | store.credentials
        environment["PATH"] = f"{programs}:{os.environ['PATH']}"
        run = start(
            *("advise", "127.0.0.1", "--without-agent", "--tool", tool, "--json", *BUDGET),
            *("--server", "mine:bucket/run" if tool == "rclone" else f"{store.url}/bucket/run"),
            *("--data", str(source), "--to", "/run"),
            environment=environment,
        )
        done = run.finish()
        assert done.returncode == 0, done.stderr
        probes = [e["result"] for e in run.events if e.get("transport") == tool and "result" in e]
        assert probes
        assert not [one for one in probes if one["outcome"] != "measured"]
        assert not list((store.served / "bucket").rglob("*"))
        [command] = run.events[-1]["commands"]
        shell = ["sh", "-c", command["shell"]]
        assert subprocess.run(shell, check=False, env=os.environ | environment).returncode == 0
        assert not difference(source, store.served / "bucket" / "run")


def test_an_xrootd_server(start: Start, source: Path, tmp_path: Path) -> None:
    with xrootd_server(tmp_path / "served") as server:
        target = server.served / "run 42"
        run = start(
            *("advise", "127.0.0.1", "--without-agent", "--tool", "xrdcp", "--json", *BUDGET),
            *("--server", server.url, "--data", str(source), "--to", str(target)),
        )
        done = run.finish()
        assert done.returncode == 0, done.stderr
        results = [e["result"] for e in run.events if e["event"] == "probe_ended"]
        assert results
        assert not [one for one in results if one["outcome"] != "measured"]
        assert not list(server.served.iterdir())
        [command] = run.events[-1]["commands"]
        assert subprocess.run(["sh", "-c", command["shell"]], check=False).returncode == 0
        assert not difference(source, target)


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.soak)]
)
def test_interrupted_it_leaves_nothing_there(
    start: Start, server: SshServer, source: Path, tmp_path: Path, number: signal.Signals
) -> None:
    run = advise(start, source, tmp_path / "there")
    run.wait_for("probe_started", transport="rclone")
    run.wait_for("interval")
    run.process.send_signal(number)
    done = run.finish()
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    assert wait_until(lambda: not list(tmp_path.glob("**/.advisor-*")))


def test_an_account_that_may_not_write_there(start: Start, server: SshServer, source: Path) -> None:
    done = advise(start, source, Path("/proc/here")).finish()
    assert done.returncode != 0
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--push"], "--without-agent and --push exclude each other"),
        (["--keep"], "--without-agent and --keep exclude each other"),
        (["--tool", "rsync"], "rsync does not look after its files at the server itself"),
    ],
)
def test_what_needs_an_agent(
    start: Start, server: SshServer, source: Path, more: list[str], sentence: str
) -> None:
    done = advise(start, source, Path("/there"), *more).finish()
    assert done.returncode == 2
    assert sentence in done.stderr
