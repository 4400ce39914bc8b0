"""An agent that was started by hand, and everything that can go wrong with it."""

import contextlib
import os
import random
import signal
import socket
import ssl
import time
from pathlib import Path

import psutil
import pytest

from advisor.agent import messages as m
from advisor.agent.secret import new_secret, read_secret, tls_context, write_secret

from .conftest import Agent, Namespaces, StartAgent
from .program import SHORT, TCP_ALONE, Start, wait_until


def listening_ports(pid: int) -> set[int]:
    """TCP and UDP ports that a process or one of its descendants has open to receive."""
    found = set()
    parent = psutil.Process(pid)
    for process in [parent, *parent.children(recursive=True)]:
        # The kernel denies a look at the files of a process that is just ending.
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            for connection in process.net_connections("inet"):
                if connection.status in ("LISTEN", "NONE") and connection.laddr:
                    found.add(connection.laddr.port)
    return found


def test_a_session_over_tls(start: Start, start_agent: StartAgent) -> None:
    agent = start_agent()
    run = start("advise", "--json", *agent.options, *TCP_ALONE)
    done = run.finish()
    assert done.returncode == 0, done.stderr
    assert run.events[-1]["event"] == "advice"
    assert run.events[-1]["pair"]["destination"] == "127.0.0.1"
    assert wait_until(lambda: listening_ports(agent.run.process.pid) == {agent.port})
    agent.run.process.send_signal(signal.SIGTERM)
    assert agent.run.process.wait(timeout=10) == 0


def test_the_secret_is_shown_once(start: Start, start_agent: StartAgent) -> None:
    agent = start_agent()
    assert agent.secret_file.stat().st_mode & 0o077 == 0
    agent.run.process.send_signal(signal.SIGTERM)
    out, err = agent.run.process.communicate(timeout=10)
    assert read_secret(agent.secret_file) in out
    again = start_agent()
    again.run.process.send_signal(signal.SIGTERM)
    out, err = again.run.process.communicate(timeout=10)
    assert read_secret(again.secret_file) not in out + err


def test_a_wrong_secret(start: Start, start_agent: StartAgent, tmp_path: Path) -> None:
    agent = start_agent()
    other = tmp_path / "other"
    write_secret(other, new_secret())
    where = f"127.0.0.1:{agent.port}"
    done = start("advise", "--agent", where, "--secret-file", str(other)).finish()
    assert done.returncode == 3
    assert "a different secret" in done.stderr
    assert "Traceback" not in done.stderr
    assert agent.run.process.poll() is None


def test_something_else_listens_there(start: Start, start_agent: StartAgent) -> None:
    secret_file = start_agent().secret_file
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        run = start("advise", "--agent", f"127.0.0.1:{port}", "--secret-file", str(secret_file))
        connection, _ = server.accept()
        connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
        done = run.finish()
        connection.close()
    assert done.returncode == 3
    assert "is not an agent" in done.stderr


def answer_to(agent: Agent, data: bytes) -> bytes:
    """All that an agent says to somebody who did not prove anything."""
    with socket.create_connection(("127.0.0.1", agent.port), timeout=20) as stranger:
        heard = b""
        try:
            stranger.sendall(data)
            with contextlib.suppress(OSError):  # The agent may have closed it already.
                stranger.shutdown(socket.SHUT_WR)
            while chunk := stranger.recv(4096):
                heard += chunk
        except ConnectionError:
            pass
        return heard


def test_strangers_get_silence(start_agent: StartAgent, start: Start) -> None:
    agent = start_agent()
    rng = random.Random(3)
    for size in (0, 1, 100, 5000):
        # A TLS alert is what TLS itself says; not a byte of ours comes.
        assert b"say" not in answer_to(agent, rng.randbytes(size))
    assert b"say" not in answer_to(
        agent, m.as_line(m.Hello(protocol=m.PROTOCOL, version="x")) * 100
    )
    assert start("path", "--json", *agent.options).finish().returncode == 0


def authenticated(agent: Agent) -> ssl.SSLSocket:
    context = tls_context(read_secret(agent.secret_file), "advisor")
    plain = socket.create_connection(("127.0.0.1", agent.port), timeout=20)
    return context.wrap_socket(plain, server_hostname="agent")


@pytest.mark.parametrize(
    "garbage",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b'{"do": "shutdown"}\n',
        b"\x00" * 1000 + b"\n",
        m.as_line(m.Hello(protocol=m.PROTOCOL, version="1"))
        + b'{"do": "facts", "facing": "$(id)"}\n',
        m.as_line(m.Hello(protocol=m.PROTOCOL, version="x" * 200_000)),
    ],
)
def test_garbage_ends_the_conversation_in_silence(start_agent: StartAgent, garbage: bytes) -> None:
    agent = start_agent()
    with authenticated(agent) as tls:
        heard = tls.recv(4096)
        assert m.read_reply(heard) == m.Welcome(protocol=m.PROTOCOL, version="0.1.0")
        # It may be over before all of it was sent.
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            tls.sendall(garbage)
            assert tls.recv(4096) == b""
    assert agent.run.process.poll() is None


def test_an_older_advisor_gets_a_sentence(start_agent: StartAgent) -> None:
    agent = start_agent()
    with authenticated(agent) as tls:
        tls.recv(4096)
        tls.sendall(m.as_line(m.Hello(protocol=7, version="9.9.9")))
        refused = m.read_reply(tls.recv(4096))
        assert isinstance(refused, m.Refused)
        assert "9.9.9" in refused.message
        assert "install the same version" in refused.message


def test_only_one_probe_port_at_a_time_and_only_for_the_peer(start_agent: StartAgent) -> None:
    """The data port is closed with its probe, and with the conversation."""
    agent = start_agent("--ports", "19310-19319")
    with authenticated(agent) as tls:
        file = tls.makefile("rwb")
        file.readline()
        file.write(m.as_line(m.Hello(protocol=m.PROTOCOL, version="1")))
        probe = m.OpenProbe(
            transport="tcp",
            setting={"streams": 1, "buffer_bytes": 0},
            source_address="127.0.0.1",
            token="a" * 32,
            ceiling_s=30,
            sample_every_s=0.1,
        )
        file.write(m.as_line(probe))
        file.flush()
        ready = m.read_reply(file.readline())
        assert isinstance(ready, m.ProbeReady)
        assert 19310 <= ready.port <= 19319
        file.write(m.as_line(m.CloseProbe()))
        file.flush()
        assert isinstance(m.read_reply(file.readline()), m.ProbeEnded)
        assert listening_ports(agent.run.process.pid) == {agent.port}
        file.write(m.as_line(probe))
        file.flush()
        assert isinstance(m.read_reply(file.readline()), m.ProbeReady)
        file.close()
    assert wait_until(lambda: listening_ports(agent.run.process.pid) == {agent.port})


def test_one_agent_serves_several_advisors_in_turn(start: Start, start_agent: StartAgent) -> None:
    agent = start_agent()
    runs = [start("advise", "--json", *agent.options, *TCP_ALONE) for _ in range(3)]
    for run in runs:
        done = run.finish()
        assert done.returncode == 0, done.stderr
    waits = [e["ahead"] for run in runs for e in run.events if e["event"] == "waiting"]
    assert max(waits) == 2


def test_an_agent_killed_in_the_middle(start: Start, start_agent: StartAgent) -> None:
    agent = start_agent()
    run = start("advise", "--json", *agent.options, "--budget", "60")
    run.wait_for("probe_ended")
    run.wait_for("interval")
    os.killpg(agent.run.process.pid, signal.SIGKILL)
    done = run.finish()
    assert "Traceback" not in done.stderr
    assert "cannot be reached again" in done.stderr
    advice = run.events[-1]
    assert advice["event"] == "advice"
    assert advice["incomplete"] is True
    lost = [e for e in run.events if e["event"] == "probe_ended"][-1]
    stored = start("history", "export", "--format", "jsonl").finish().stdout
    assert stored.count(advice["session"]) >= lost["ordinal"]


def test_an_agent_that_comes_back_is_reached_again(start: Start, start_agent: StartAgent) -> None:
    agent = start_agent()
    run = start("advise", "--json", *agent.options, *TCP_ALONE)
    run.wait_for("probe_ended")
    run.wait_for("interval")
    for process in psutil.Process(agent.run.process.pid).children(recursive=True):
        # The kernel denies a look at the files of a process that is just ending.
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            process.kill()
    done = run.finish()
    assert done.returncode == 0, done.stderr
    assert run.events[-1]["incomplete"] is False


@pytest.mark.namespaces
def test_the_whole_job_between_two_hosts(
    start: Start, start_agent: StartAgent, joined: Namespaces
) -> None:
    """200 Mbit/s: what is advised reaches what the link carries."""
    agent = start_agent(
        *("--ports", "50000-50009"),
        host=joined.destination_address,
        prefix=joined.destination.host,
    )
    run = start(*("advise", "--json", *agent.options, "--budget", "16"), prefix=joined.source.host)
    done = run.finish()
    assert done.returncode == 0, done.stderr
    advice = run.events[-1]
    # Of 200 Mbit/s, Ethernet, IP and TCP headers leave 191. How close to it: for the benchmarks.
    assert 0.6 * 191e6 < advice["expected_bps"] < 1.1 * 191e6
    path = next(e for e in run.events if e["event"] == "path_found")["path"]
    assert path["mtu_bytes"] == 1500
    udt = [e for e in run.events if e["event"] == "probe_ended" and e["transport"] == "udt"]
    assert all(e["setting"]["mss_bytes"] == 1500 for e in udt)


@pytest.mark.namespaces
def test_ports_closed_by_a_firewall(
    start: Start, start_agent: StartAgent, joined: Namespaces
) -> None:
    agent = start_agent(
        *("--ports", "50000-50015"),
        host=joined.destination_address,
        prefix=joined.destination.host,
    )
    # What leaves these ports is dropped in silence, as a firewall that keeps no state would do.
    # By number: a minimal system has no /etc/protocols.
    for protocol in (socket.IPPROTO_TCP, socket.IPPROTO_UDP):
        rule = ["rule", "add", "ipproto", str(protocol), "sport", "50000-50015", "blackhole"]
        joined.destination.run("ip", *rule)
    began_s = time.monotonic()
    run = start("advise", "--json", *agent.options, *SHORT, prefix=joined.source.host)
    done = run.finish(timeout_s=170)
    assert time.monotonic() - began_s < 170
    assert done.returncode == 1
    assert run.events[-1]["event"] == "gave_up"
    assert "Traceback" not in done.stderr
    assert "ports" in done.stderr
    failures = [e["result"] for e in run.events if e["event"] == "probe_ended"]
    assert failures
    assert all(f["outcome"] == "failed" for f in failures)
