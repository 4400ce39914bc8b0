"""Profiling rclone: a real sshd, a real S3 server, a real rclone."""

import contextlib
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.disk.files import difference
from tests.narrow import Narrow
from tests.plugins.tools.gridftp_lines import require
from tests.s3_server import s3_server, with_newer_rclone
from tests.ssh_server import SshServer, needs_sshd, ssh_server, ssh_that_knows

from .labs import Lab
from .program import ADVISOR, Run, Start

BUDGET = ["--budget", "20", "--seed", "1"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Files of several sizes."""
    folder = tmp_path / "run 42"
    (folder / "below").mkdir(parents=True)
    for number in range(30):
        (folder / f"small {number}").write_bytes(os.urandom(20_000))
        (folder / "below" / f"{number}.dat").write_bytes(os.urandom(500_000))
    (folder / "large").write_bytes(os.urandom(30_000_000))
    return folder


def _advise(start: Start, server: str, source: Path, target: Path, **more: Any) -> Run:
    return start(
        *("advise", "localhost", "--tool", "rclone", "--json", *BUDGET),
        *("--server", server, "--data", str(source), "--to", str(target)),
        **more,
    )


def _unmeasured(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one for one in results if one["outcome"] != "measured"]


def _results(run: Run) -> list[dict[str, Any]]:
    events = [event for event in run.events if event["event"] == "probe_ended"]
    return [event["result"] for event in events if event["transport"] == "rclone"]


@needs_sshd
def test_the_advised_line_copies_the_files(
    start: Start, known_sshd: SshServer, source: Path, tmp_path: Path
) -> None:
    require("rclone")
    target = tmp_path / "there"
    run = _advise(start, f"sftp://127.0.0.1:{known_sshd.port}", source, target)
    done = run.finish()
    assert done.returncode == 0, done.stderr
    results = _results(run)
    assert results
    assert not _unmeasured(results)
    assert not target.exists(), "what the probes moved is taken away again"
    assert not list(tmp_path.glob(".advisor*"))
    advice = run.events[-1]
    assert advice["event"] == "advice"
    assert advice["transport"] == "rclone"
    [command] = advice["commands"]
    assert f"port={known_sshd.port}" in command["shell"]
    assert subprocess.run(command["shell"], shell=True, check=False).returncode == 0
    assert not difference(source, target)


def test_a_line_to_a_store_copies_the_files(start: Start, source: Path, tmp_path: Path) -> None:
    """Of a store that serves a folder which the agent sees."""
    programs = with_newer_rclone(tmp_path)
    with s3_server(tmp_path / "s3") as store:
        target = store.served / "bucket" / "there"
        path = {"PATH": f"{programs}:{os.environ['PATH']}"}
        run = _advise(
            start, "mine:bucket/there", source, target, environment=store.environment | path
        )
        done = run.finish()
        assert done.returncode == 0, done.stderr
        assert not _unmeasured(_results(run))
        assert not list((store.served / "bucket").iterdir())
        [command] = run.events[-1]["commands"]
        assert command["argv"][-1] == "mine:bucket/there"
        environment = os.environ | store.environment | path
        shell = ["sh", "-c", command["shell"]]
        assert subprocess.run(shell, check=False, env=environment).returncode == 0
        assert not difference(source, target)


@needs_sshd
def test_as_many_connections_as_were_refused_are_not_tried_again(
    start: Start, known_sshd: SshServer, tmp_path: Path
) -> None:
    require("rclone")
    # Each in a folder of its own, no file waits for another one to begin: all ask for a connection
    # at the same time, however fast the host is.
    source = tmp_path / "files"
    for number in range(20):
        (source / str(number)).mkdir(parents=True)
        (source / str(number) / "file").write_bytes(bytes(5_000_000))
    # 8 look for the files first (`--checkers`), however few are moved at a time.
    narrow = Narrow(known_sshd.address, known_sshd.port, 10)
    with contextlib.closing(narrow):
        config = tmp_path / "config"
        config.write_text(config.read_text().replace(str(known_sshd.port), str(narrow.port)))
        key = known_sshd.known_hosts.read_text().partition(" ")[2]
        known_sshd.known_hosts.write_text(f"[{known_sshd.address}]:{narrow.port} {key}")
        run = start(
            *("profile", "localhost", "--tool", "rclone", "--json", "--repeats", "2"),
            *("--set", "concurrency=2,16"),
            *("--server", f"sftp://{known_sshd.address}:{narrow.port}"),
            *("--data", str(source), "--to", str(tmp_path / "there")),
        )
        done = run.finish()
    assert done.returncode == 0, done.stderr
    [refused] = _unmeasured(_results(run))
    assert refused["kind"] == "rejected setting"
    assert refused["message"].startswith("the server accepts no more connections")
    assert len(_results(run)) == 3


@needs_sshd
def test_on_a_path_of_a_lab(start: Start, lab: Lab, source: Path, tmp_path: Path) -> None:
    """From its source to a real sshd on its far host."""
    require("rclone", "ssh")
    [here, far] = lab.state["hosts"]
    # Root of the lab's user namespace could not become another account, as sshd of root wants to.
    enter = ["nsenter", f"--net={far['network']}"]
    if os.geteuid() != 0:
        own = [f"{name}={value}" for name, value in lab.environment.items()]
        enter = ["env", *own, *ADVISOR, "lab", "exec", lab.name, "--host", "far", "--"]
    with ssh_server(tmp_path / "ssh", address=far["address"], prefix=enter) as server:
        programs = ssh_that_knows(tmp_path, f"Host {server.address}\n{server.login}")
        environment = lab.environment | {"PATH": f"{programs}:{lab.environment['PATH']}"}
        target = lab.folder / "files" / "far" / "there"
        run = start(
            *("advise", f"lab:{lab.name}", "--tool", "rclone", "--json", *BUDGET),
            *("--server", f"sftp://{server.address}:{server.port}"),
            *("--data", str(source), "--to", str(target)),
            environment=environment,
        )
        done = run.finish()
        assert done.returncode == 0, done.stderr
        path = next(one["path"] for one in run.events if one["event"] == "path_found")
        assert path["source_address"] == here["address"]
        [command] = run.events[-1]["commands"]
        inside = [*ADVISOR, "lab", "exec", lab.name, "--", "sh", "-c", command["shell"]]
        assert subprocess.run(inside, check=False, env=lab.environment).returncode == 0
        assert not difference(source, target)
