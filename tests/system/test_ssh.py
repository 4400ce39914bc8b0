"""Over a real sshd on a loopback port, with a key made for the test."""

import itertools
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.fleet_at_work import AtWork
from tests.plugins.tools.gridftp_lines import require
from tests.postgres_server import SharedDatabase
from tests.ssh_server import SshServer, needs_sshd

from .conftest import StartAgent
from .program import SHORT, TCP_ALONE, Start, children_left, wait_until

pytestmark = needs_sshd


@pytest.fixture
def over_ssh(sshd: SshServer) -> list[str]:
    return ["--agent-command", f"{sys.executable} -P -m advisor agent --stdio"]


@pytest.mark.as_root
def test_a_session(start: Start, sshd: SshServer, over_ssh: list[str], tmp_path: Path) -> None:
    run = start("advise", "dtn", "--json", *over_ssh, "--ports", "19410-19419", *SHORT)
    done = run.finish()
    assert done.returncode == 0, done.stderr
    advice = run.events[-1]
    assert advice["pair"]["destination"] == "dtn"
    path = next(e for e in run.events if e["event"] == "path_found")["path"]
    assert path["destination_address"] == "127.0.0.1"
    assert wait_until(lambda: not children_left(tmp_path))


def has_measured(ended: dict[str, Any]) -> bool:
    return bool(ended["result"]["outcome"] == "measured")


def test_the_connection_cut_in_the_middle(
    start: Start, sshd: SshServer, over_ssh: list[str], tmp_path: Path
) -> None:
    """Cut once, the agent is started again and the session continues; the first leaves nothing."""
    run = start("advise", "dtn", "--json", *over_ssh, *TCP_ALONE)
    run.wait_for("probe_ended")
    run.wait_for("interval")
    sshd.cut()
    done = run.finish()
    assert done.returncode == 0, done.stderr
    notices = [e["message"] for e in run.events if e["event"] == "notice"]
    assert any("the agent was lost" in text for text in notices)
    ended = [e for e in run.events if e["event"] == "probe_ended"]
    since = itertools.dropwhile(has_measured, ended)
    # Later probes may fail for another reason, on a busy machine.
    failed = list(itertools.takewhile(lambda one: not has_measured(one), since))
    # The probe's own connections may end before the agent's end is noticed.
    kinds = {one["result"]["kind"] for one in failed}
    assert {"peer gone"} <= kinds <= {"peer gone", "reset"}, failed
    assert all(one["retried"] for one in failed), failed
    assert run.events[-1]["incomplete"] is False
    assert wait_until(lambda: not children_left(tmp_path))


@pytest.mark.as_root
def test_the_connection_cut_for_good(
    start: Start, sshd: SshServer, over_ssh: list[str], tmp_path: Path
) -> None:
    run = start("advise", "dtn", "--json", *over_ssh, "--budget", "60")
    run.wait_for("probe_ended")
    run.wait_for("interval")
    sshd.process.send_signal(signal.SIGSTOP)
    sshd.cut()
    sshd.process.kill()
    done = run.finish()
    assert run.events[-1]["event"] == "advice"
    assert run.events[-1]["incomplete"] is True
    assert "cannot be reached again" in done.stderr
    assert "Traceback" not in done.stderr
    assert wait_until(lambda: not children_left(tmp_path))


@pytest.mark.as_root
def test_the_advisor_killed_leaves_nothing_on_either_side(
    start: Start, sshd: SshServer, over_ssh: list[str], tmp_path: Path
) -> None:
    run = start("advise", "dtn", "--json", *over_ssh)
    run.wait_for("interval")
    run.process.kill()
    assert wait_until(lambda: not children_left(tmp_path))


def test_there_is_no_agent_on_the_other_side(start: Start, over_ssh: list[str]) -> None:
    done = start("advise", "dtn", "--agent-command", "/nowhere/advisor agent --stdio").finish()
    assert done.returncode == 3
    assert "no '/nowhere/advisor' on dtn" in done.stderr
    assert "--agent-command" in done.stderr


def test_what_answers_is_no_agent(start: Start, over_ssh: list[str]) -> None:
    done = start("advise", "dtn", "--agent-command", "yes not an agent | head -n 2000").finish()
    assert done.returncode == 3
    assert "not an agent" in done.stderr


def test_a_login_that_prints_first_is_no_trouble(
    start: Start, sshd: SshServer, over_ssh: list[str]
) -> None:
    command = f"echo Welcome to dtn; {over_ssh[1]}"
    run = start("path", "dtn", "--json", "--agent-command", command)
    assert run.finish().returncode == 0
    assert run.events[0]["event"] == "path_found"


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("stranger", "ssh-copy-id"),
        ("unknown", "known host"),
        ("nobody-home", "Connection refused"),
    ],
)
def test_logins_that_fail_name_the_remedy(
    start: Start, over_ssh: list[str], host: str, words: str
) -> None:
    began_s = time.monotonic()
    done = start("advise", host, *over_ssh).finish()
    assert done.returncode == 3
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert time.monotonic() - began_s < 60


def test_the_tool_whose_server_can_be_used_is_found(
    start: Start, sshd: SshServer, over_ssh: list[str], tmp_path: Path
) -> None:
    """Of those that are installed here, globus-url-copy comes first; ssh alone leads to `dtn`."""
    require("globus-url-copy", "rclone")
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "file").write_bytes(bytes(5_000_000))
    files = ("--data", str(tmp_path / "source"), "--to", str(tmp_path / "there"))
    run = start("advise", "dtn", "--json", *over_ssh, "--profile-tool", "auto", *files)
    run.wait_for("probe_ended")
    run.process.send_signal(signal.SIGINT)
    done = run.finish()
    said = done.stderr.splitlines()
    assert said[0].startswith(
        "advisor: globus-url-copy is installed here, but its server cannot be reached at dtn, "
    )
    assert said[1] == "advisor: profiles rclone, which is installed here"
    assert wait_until(lambda: not children_left(tmp_path))
    assert not (tmp_path / "there").exists()


@pytest.mark.timeout(600)
def test_a_fleet_measures_from_a_source_that_ssh_reaches(
    start: Start,
    start_agent: StartAgent,
    sshd: SshServer,
    over_ssh: list[str],
    tmp_path: Path,
    shared_database: SharedDatabase,
) -> None:
    """Nothing but the worker knows of the database; the source knows the agent's secret."""
    agent = start_agent()
    own = tmp_path / ".config" / "advisor"
    own.mkdir(parents=True)
    secret = f"[hosts.\"127.0.0.1\"]\nsecret-file = '{agent.secret_file}'\n"
    (own / "config.toml").write_text(secret)
    content = f"""
        [limits]
        share-per-day = "100%"
        [hosts.source]
        reach = "dtn"
        agent-command = "{sys.executable} -P -m advisor"
        bandwidth = "100Gbit"
        [hosts.destination]
        reach = "127.0.0.1"
        agent = "127.0.0.1:{agent.port}"
        bandwidth = "100Gbit"
        [measure.advice]
        what = "advice"
        between = "pairs"
        sources = ["source"]
        destinations = ["destination"]
        every = "1d"
        budget = "60s"
        transports = ["tcp"]
    """
    fleet = AtWork(shared_database, tmp_path / "fleet")
    fleet.describe(content)
    store = ("--store", shared_database.address("alice"))
    run = start("fleet", "work", *store, "--trust", "olga")

    def ended() -> list[tuple[object, ...]]:
        return fleet.rows("attempts", "outcome, message", "WHERE ended_s IS NOT NULL")

    # Where another test measures on this host, that is given way to, and tried again.
    wait_until(lambda: ("done", "") in ended(), 200)
    run.process.send_signal(signal.SIGTERM)
    done = run.finish()
    assert done.returncode == 0, done.stderr
    allowed = {("done", ""), ("given way", "a user measures at destination")}
    assert set(ended()) <= allowed, done.stderr
    assert ended(), done.stderr
    [pair] = shared_database.backend("rita").pairs()
    assert pair.destination == "127.0.0.1"
    # The listening agent and its children stay; of the session nothing does.
    assert wait_until(lambda: "advise" not in " ".join(children_left(tmp_path)))
