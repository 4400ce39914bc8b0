"""Strangers without the secret at the port of a listening agent.

A thousand of them, and how long an advisor waits beside them: `python -m tests.soak.strangers`.
"""

import asyncio
import contextlib
import shutil
import socket
import threading
from pathlib import Path

import pytest

from advisor.agent.door import Door, Limits, _Newcomer
from advisor.agent.event_log import EventLog
from advisor.agent.secret import new_secret, tls_context
from tests.soak.strangers import KINDS, listening_agent, seconds_to_connect, strangers

NUMBER = 300
DESCRIPTORS = 256
LONG_S = 10.0
LITTLE_BYTES = 40e6
LOG_BYTES = 5000

pytestmark = pytest.mark.skipif(not shutil.which("prlimit"), reason="needs prlimit of util-linux")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("source", ["127.0.0.1", "127.0.0.9"])
def test_an_advisor_is_let_in_beside_strangers(tmp_path: Path, kind: str, source: str) -> None:
    with listening_agent(tmp_path, DESCRIPTORS) as agent:
        seconds_to_connect(agent)
        before_bytes = agent.memory_bytes
        with strangers(agent.port, NUMBER, kind, source):
            assert seconds_to_connect(agent) < LONG_S
            assert agent.memory_bytes - before_bytes < LITTLE_BYTES
            assert agent.open_files < DESCRIPTORS
        log = agent.log.read_text()
    assert "Traceback" not in log
    assert len(log) < LOG_BYTES


def test_an_advisor_is_let_in_while_strangers_come_and_go(tmp_path: Path) -> None:
    over = threading.Event()

    def come_and_go(port: int) -> None:
        while not over.is_set():
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port), timeout=1).close()

    with listening_agent(tmp_path, DESCRIPTORS) as agent:
        crowd = [threading.Thread(target=come_and_go, args=(agent.port,)) for _ in range(3)]
        for one in crowd:
            one.start()
        try:
            assert seconds_to_connect(agent) < LONG_S
        finally:
            over.set()
            for one in crowd:
                one.join()
        assert len(agent.log.read_text()) < LOG_BYTES


def test_a_stranger_that_does_nothing_is_shown_out(tmp_path: Path) -> None:
    """Its time is limited, before and after TLS begins."""

    async def run() -> list[str]:
        lines: list[str] = []
        limits = Limits(of_one_address=4, in_all=8, proof_s=0.3)
        door = Door(tls_context(new_secret(), "agent"), _nobody, EventLog(lines.append), limits)
        port = await door.open("127.0.0.1", 0)
        try:
            for first in (b"", b"\x16", b"\x16\x03\x01\x02\x00"):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(first)
                async with asyncio.timeout(LONG_S):
                    with contextlib.suppress(ConnectionError):
                        await reader.read()
                writer.close()
        finally:
            await door.close()
        return lines

    lines = asyncio.run(run())
    assert len(lines) == 3
    assert all("127.0.0.1" in line and "did not prove" in line for line in lines)


def test_a_crowd_of_one_address_does_not_show_others_out() -> None:
    async def run() -> bytes:
        limits = Limits(of_one_address=4, in_all=6, proof_s=LONG_S)
        log = EventLog(lambda _: None)
        door = Door(tls_context(new_secret(), "agent"), _nobody, log, limits)
        port = await door.open("127.0.0.1", 0)
        try:
            crowd = [
                await asyncio.open_connection("127.0.0.1", port, local_addr=(f"127.0.0.{n}", 0))
                for n in (7, 8, 8, 8, 8, 8, 9, 9, 9, 9, 9)
            ]
            said = b"still there"
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.5):
                    said = await crowd[0][0].read()
            assert len(door._newcomers) <= 6
            for _, writer in crowd:
                writer.close()
            return said
        finally:
            await door.close()

    assert asyncio.run(run()) == b"still there"


def _resolve_to(monkeypatch: pytest.MonkeyPatch, *addresses: tuple[int, str]) -> None:
    """Every name has these addresses, in this order."""
    found = [(family, socket.SOCK_STREAM, 6, "", (host, 0)) for family, host in addresses]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)


async def _opened(lines: list[str], port: int = 0) -> bool:
    """Whether an agent that listens on a name can be reached at 127.0.0.1."""
    door = Door(tls_context(new_secret(), "agent"), _nobody, EventLog(lines.append))
    port = await door.open("dtn01", port)
    try:
        with socket.socket() as advisor:
            return advisor.connect_ex(("127.0.0.1", port)) == 0
    finally:
        await door.close()


NO_FAMILY = (socket.AF_DECnet, "2001:db8::1")
NOT_HERE = (socket.AF_INET, "192.0.2.1")
HERE = (socket.AF_INET, "127.0.0.1")


@pytest.mark.parametrize("absent", [NO_FAMILY, NOT_HERE])
@pytest.mark.parametrize("is_first", [True, False])
def test_an_address_that_this_host_has_not_is_left_out(
    monkeypatch: pytest.MonkeyPatch, absent: tuple[int, str], is_first: bool
) -> None:
    _resolve_to(monkeypatch, *((absent, HERE) if is_first else (HERE, absent)))
    lines: list[str] = []
    assert asyncio.run(_opened(lines))
    [line] = lines
    assert line.startswith(f"an address is left out: {absent[1]}: ")


@pytest.mark.parametrize("absent", [NO_FAMILY, NOT_HERE])
def test_without_any_address_it_fails(
    monkeypatch: pytest.MonkeyPatch, absent: tuple[int, str]
) -> None:
    _resolve_to(monkeypatch, absent)
    with pytest.raises(OSError, match=r"not supported|requested address"):
        asyncio.run(_opened([]))


def test_an_address_that_another_has_taken_is_not_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.2", 0)) as other:
        _resolve_to(monkeypatch, HERE, (socket.AF_INET, "127.0.0.2"))
        with pytest.raises(OSError, match="in use"):
            asyncio.run(_opened([], other.getsockname()[1]))


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("fe80::1%eth0", "fe80::2%eth1", True),
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
    ],
)
def test_all_addresses_of_an_ipv6_site_are_one_stranger(
    one: str, other: str, is_same: bool
) -> None:
    with socket.socket() as connection:
        first, second = (_Newcomer(connection, address, 0) for address in (one, other))
    assert (first.site == second.site) is is_same


def test_a_log_is_not_flooded() -> None:
    lines: list[str] = []
    now_s = 0.0
    log = EventLog(lines.append, lambda: now_s)
    for number in range(1000):
        log.say("a kind", f"\x1b]0;{number}\x07")
    assert len(lines) == 5
    assert lines[0] == "a kind: ?]0;0?"
    log.say("another kind", "x" * 10_000)
    assert len(lines[-1]) < 300
    now_s = 61.0
    log.say("a kind", "again")
    assert lines[-2:] == ["a kind: 995 more within a minute", "a kind: again"]


async def _nobody(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    raise AssertionError("somebody was let in without the secret")
