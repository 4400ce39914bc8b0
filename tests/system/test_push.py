"""An agent that is brought along over a real sshd, to an account that has no advisor.

It is a stand-in for what `make agent` builds, which takes minutes: a script that runs this
checkout's interpreter. How it is sent, started and ended is the same.
"""

import gzip
import os
import platform
import sys
from pathlib import Path

import pytest

import advisor
from tests.ssh_server import SshServer, needs_sshd

from .program import Start, children_left, wait_until

pytestmark = needs_sshd

STAND_IN = f"""#!/bin/sh
[ "$1" = --runs ] && exit 0
exec {sys.executable} -P "$@"
"""


@pytest.fixture
def agent_file(tmp_path: Path) -> Path:
    name = f"advisor-agent-{advisor.__version__}-{platform.machine()}.gz"
    path = tmp_path / "data" / "advisor" / "agents" / name
    path.parent.mkdir(parents=True)
    # Bytes that do not get smaller, so that it takes a moment to be sent.
    program = STAND_IN.encode() + b"# " + os.urandom(500_000).hex().encode() + b"\n"
    path.write_bytes(gzip.compress(program, 1, mtime=0))
    return path


@pytest.mark.as_root
def test_a_session_leaves_nothing(
    start: Start, sshd: SshServer, agent_file: Path, tmp_path: Path
) -> None:
    before = {p for p in Path("/tmp").iterdir() if p.name.startswith(".advisor-push")}
    run = start("advise", "dtn", "--push", "--json", "--budget", "12", "--transports", "tcp")
    run.wait_for("probe_ended")
    assert not (tmp_path / "advisor").exists()
    done = run.finish()
    assert done.returncode == 0, done.stderr
    notices = [e["message"] for e in run.events if e["event"] == "notice"]
    assert any("sending the agent to dtn" in text and "SHA-256" in text for text in notices)
    assert run.events[-1]["event"] == "advice"
    assert wait_until(lambda: not children_left(tmp_path))
    after = {p for p in Path("/tmp").iterdir() if p.name.startswith(".advisor-push")}
    assert after == before
    assert not (tmp_path / ".cache" / "advisor" / "agents").exists()


def test_a_kept_copy_is_sent_once(
    start: Start, sshd: SshServer, agent_file: Path, tmp_path: Path
) -> None:
    words = ("path", "dtn", "--push", "--keep-agent", "--json")
    for said in ("sending the agent", "in the cache of dtn"):
        run = start(*words)
        done = run.finish()
        assert done.returncode == 0, done.stderr
        assert said in run.events[0]["message"]
    assert len(list((tmp_path / ".cache" / "advisor" / "agents").iterdir())) == 1


@pytest.mark.as_root
def test_the_advisor_is_killed(
    start: Start, sshd: SshServer, agent_file: Path, tmp_path: Path
) -> None:
    run = start("path", "dtn", "--push", "--json", "--watch")
    run.wait_for("rtt_seen")
    run.process.kill()
    assert wait_until(lambda: not children_left(tmp_path))


def test_the_connection_is_cut(
    start: Start, sshd: SshServer, agent_file: Path, tmp_path: Path
) -> None:
    run = start("path", "dtn", "--push", "--json", "--watch")
    run.wait_for("rtt_seen")
    sshd.cut()
    run.process.kill()
    assert wait_until(lambda: not children_left(tmp_path))


def test_a_host_without_advisor_names_push(start: Start, sshd: SshServer) -> None:
    done = start("path", "dtn", "--agent-command", "/nowhere/advisor agent --stdio").finish()
    assert done.returncode == 3
    assert "--push" in done.stderr
