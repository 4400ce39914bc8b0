"""Why an agent cannot be reached: the sentence, and the command that mends it."""

import asyncio
import errno
import socket
from pathlib import Path

import pytest

from advisor.agent import connect
from advisor.agent.connect import reach_ssh, reach_tls, ssh_failure
from advisor.agent.peer_errors import PeerError
from advisor.agent.secret import BadSecret, new_secret, read_secret, write_secret
from advisor.domain.endpoints import Endpoint
from advisor.domain.problem import ProblemKind
from advisor.lab.state import LabError, state_of


@pytest.mark.parametrize(
    ("status", "said", "kind", "command", "host"),
    [
        (127, "sh: advisor: not found", ProblemKind.MISSING, "make install", "dtn02"),
        (
            255,
            "u@dtn02: Permission denied (publickey).",
            ProblemKind.REFUSED,
            "ssh-copy-id u@dtn02",
            "",
        ),
        (255, "Host key verification failed.", ProblemKind.REFUSED, "ssh u@dtn02", ""),
        (
            255,
            "ssh: connect to host dtn02 port 22: No route",
            ProblemKind.LOST,
            "ssh -v u@dtn02 true",
            "",
        ),
    ],
)
def test_what_ssh_says(status: int, said: str, kind: ProblemKind, command: str, host: str) -> None:
    endpoint = Endpoint.parse("u@dtn02")
    problem = ssh_failure(endpoint, "advisor agent --stdio", status, f"banner\n{said}\n").problem
    assert (problem.kind, problem.command, problem.host) == (kind, command, host)
    assert problem.remedy


def test_no_ssh(monkeypatch: pytest.MonkeyPatch) -> None:
    async def missing(*_: object, **__: object) -> tuple[int, str]:
        raise FileNotFoundError

    monkeypatch.setattr(connect, "output_of", missing)
    with pytest.raises(PeerError) as caught:
        asyncio.run(reach_ssh(Endpoint.parse("dtn02"), "advisor agent --stdio"))
    assert caught.value.problem.command == "apt-get install openssh-client"


def test_nothing_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(PeerError) as caught:
        asyncio.run(reach_tls("127.0.0.1", port, new_secret()))
    problem = caught.value.problem
    assert (problem.kind, problem.host) == (ProblemKind.UNREACHABLE, "127.0.0.1")
    assert problem.reason == f"connection to 127.0.0.1:{port} refused"
    assert problem.command == f"advisor agent --listen 0.0.0.0:{port}"


def test_no_route(monkeypatch: pytest.MonkeyPatch) -> None:
    async def unreachable(*_: object, **__: object) -> None:
        raise OSError(errno.EHOSTUNREACH, "Connect call failed ('192.0.2.1', 5199)")

    monkeypatch.setattr(asyncio, "open_connection", unreachable)
    with pytest.raises(PeerError) as caught:
        asyncio.run(reach_tls("192.0.2.1", 5199, new_secret()))
    reason = caught.value.problem.reason
    assert reason == "192.0.2.1:5199 cannot be reached (No route to host)"


def test_a_secret_that_others_may_read(tmp_path: Path) -> None:
    file = tmp_path / "a secret"
    write_secret(file, new_secret())
    file.chmod(0o644)
    with pytest.raises(BadSecret) as caught:
        read_secret(file)
    assert caught.value.problem.command == f"chmod 600 '{file}'"


def test_no_lab(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ADVISOR_RUNTIME_DIR", str(tmp_path / "advisor"))
    with pytest.raises(LabError) as caught:
        state_of("wan")
    assert caught.value.problem.command == "advisor lab up wan"
