"""JSON that is nested so deep, or has such numbers, that whoever decodes it crashes."""

import asyncio
import contextlib
import os
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.agent import messages as m
from advisor.agent.client import AgentLink
from advisor.agent.peer_errors import PeerError, PeerGone
from advisor.agent.service import AgentService
from advisor.domain import events as ev
from advisor.domain.endpoints import Pair
from advisor.hosts.decoding import DEEPEST, BadData, decoded
from advisor.lab.control import tell
from advisor.lab.messages import GetStatus
from advisor.lab.state import Host, LabError, LabFolder, StoredLab
from advisor.models.slicing import FileEntry, Part
from advisor.store.event_log import EventLog, kept_events
from advisor.store.history import Store
from advisor.store.importers import BadEntry, read_file
from advisor.store.layout import JOURNAL, pair_directory
from advisor.transfer.engine.journal import NotedPart, TransferJournal
from advisor.transfer.engine.places import Places

DEEP = [b"[" * 60_000, b'{"a":' * 12_000, b'{"a":' + b"[" * 60_000, b"[{" * 30_000]
# Well-formed, and below what Python's own limit on recursion lets through.
WELL_FORMED = [b"[" * 900 + b"]" * 900, b'{"a":' * 300 + b"0" + b"}" * 300]


def ids(text: bytes) -> str:
    """Test names are not thousands of characters long."""
    return f"{text[:24].decode()}-{len(text)}"


ANY = msgspec.json.Decoder(object)


@pytest.mark.parametrize("text", [*DEEP, *WELL_FORMED], ids=ids)
def test_what_is_nested_too_deep_is_bad_data(text: bytes) -> None:
    with pytest.raises(BadData, match="nested deeper than 64"):
        decoded(ANY, text, 10**6)


@pytest.mark.parametrize("number", [b"1e999", b"-1e999", b"9" * 5000, b"NaN"])
def test_numbers_that_are_too_large_are_bad_data(number: bytes) -> None:
    with pytest.raises(BadData):
        decoded(ANY, b'{"a":' + number + b"}", 10**6)


def test_only_what_is_nested_counts_not_what_is_written_in_strings() -> None:
    whole = b"[" * DEEPEST + b"]" * DEEPEST
    assert decoded(ANY, whole, 10**6) is not None
    with pytest.raises(BadData):
        decoded(ANY, b"[" + whole + b"]", 10**6)
    text = b'["' + b"[{" * 1000 + b'\\"' + b"[" * 1000 + b'\\\\"]'
    assert decoded(ANY, text, 10**6)
    assert decoded(ANY, b"[" + b"[],{}," * 1000 + b"0]", 10**6)


@given(st.binary(max_size=200) | st.text(alphabet='[]{}"\\:,0a', max_size=400).map(str.encode))
def test_whatever_comes_is_a_value_or_bad_data(text: bytes) -> None:
    with contextlib.suppress(BadData):
        decoded(ANY, text, 300)
    for read in (m.read_request, m.read_reply):
        with contextlib.suppress(BadData):
            read(text)


def deep_messages(tag: bytes) -> list[bytes]:
    """With a field that no version knows: whoever skips it has to go through it."""
    return [*DEEP, *WELL_FORMED, b"{" + tag + b',"later":' + b"[" * 900 + b"]" * 900 + b"}"]


@pytest.mark.parametrize("line", deep_messages(b'"say":"at_work"'), ids=ids)
def test_a_malicious_agent(line: bytes) -> None:
    async def run() -> None:
        ours, theirs = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=ours, limit=m.MESSAGE_LIMIT_BYTES)
        their_reader, their_writer = await asyncio.open_connection(sock=theirs)
        link = AgentLink(reader, writer, _nothing(their_writer), _gone)
        their_writer.write(m.as_line(m.Welcome(protocol=m.PROTOCOL, version="1")))
        await link.greet(10)
        await their_reader.readline()
        their_writer.write(line + b"\n")
        with pytest.raises(PeerError, match="not in its protocol"):
            await link.close_echo()
        await link.close()

    asyncio.run(run())


@pytest.mark.parametrize("line", deep_messages(b'"do":"close_echo"'), ids=ids)
def test_a_malicious_advisor(line: bytes) -> None:
    async def run() -> bytes:
        service = AgentService()
        ours, theirs = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=ours)
        agents = await asyncio.open_connection(sock=theirs, limit=m.MESSAGE_LIMIT_BYTES)
        serving = asyncio.create_task(service.serve(*agents))
        await reader.readline()
        writer.write(m.as_line(m.Hello(protocol=m.PROTOCOL, version="1")) + line + b"\n")
        await serving  # Raises what the service lets escape.
        await service.close()
        agents[1].close()
        answer = await reader.read()
        writer.close()
        return answer

    assert asyncio.run(run()) == b""


def _nothing(writer: asyncio.StreamWriter) -> Callable[[], Awaitable[None]]:
    async def close() -> None:
        writer.close()

    return close


async def _gone() -> PeerGone:
    return PeerGone("the agent ended")


PAIR = Pair("dtn1.example.org", "dtn2.example.org")


@pytest.mark.parametrize(
    "line", [*DEEP, *WELL_FORMED, b'{"session":' + b"9" * 5000 + b"}"], ids=ids
)
def test_a_line_in_a_history_that_several_share(tmp_path: Path, line: bytes) -> None:
    store = Store(tmp_path / "store", cache=tmp_path / "cache")
    journal = pair_directory(Path(store.argument), PAIR) / JOURNAL
    journal.parent.mkdir(parents=True)
    journal.write_bytes(line + b"\n" + line)
    assert store.records(PAIR) == []
    assert store.skipped(PAIR) == 1
    assert store.pairs() == []
    assert store.sessions(PAIR) == []
    assert store.append_new([]) == 0


def test_a_stored_event(tmp_path: Path) -> None:
    log = EventLog(tmp_path)
    log(ev.Notice(at_s=0, message="one"))
    for line in (*DEEP, *WELL_FORMED):
        with (tmp_path / "events.jsonl").open("ab") as file:
            file.write(b'{"event":"notice","later":' + line + b"\n")
    log(ev.Notice(at_s=0, message="two"))
    assert [event.message for event in kept_events(tmp_path)] == ["one", "two"]  # type: ignore[union-attr] # both are notices
    log.close()
    assert len(list(kept_events(tmp_path))) == 2


def test_the_journal_of_a_transfer(tmp_path: Path) -> None:
    places = Places(source="/data", target="/store", destination_host="dtn02")
    entry = FileEntry("one", 100, 7)
    noted = NotedPart(Part(entry, 0, 100), "ab" * 32)

    async def write(journal: TransferJournal) -> None:
        await journal.begin([])
        await journal.note([noted])

    with TransferJournal(tmp_path, places, print) as journal:
        asyncio.run(write(journal))
        [path] = tmp_path.glob("*.jsonl")
        with path.open("ab") as file:
            for line in (*DEEP, *WELL_FORMED):
                file.write(b'["one",100,7,0,0,0,100,"","later",' + line + b"\n")
        assert asyncio.run(journal.read([entry])).parts == (noted,)


@pytest.mark.parametrize(
    "text", [*DEEP, *WELL_FORMED, b'{"start":' + WELL_FORMED[0] + b"}"], ids=ids
)
def test_an_import(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "it.json").write_bytes(b'{"title":' + text + b"}")
    [entry] = read_file(tmp_path / "it.json")
    assert isinstance(entry, BadEntry)


@pytest.mark.parametrize("line", [*DEEP, *WELL_FORMED], ids=ids)
def test_the_answer_of_a_lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: bytes) -> None:
    monkeypatch.setenv("ADVISOR_RUNTIME_DIR", str(tmp_path / "run"))
    place = LabFolder("wan")
    place.make()
    host = Host(name="far", address="10.77.1.1", network=f"/proc/{os.getpid()}/fd/3")
    place.write(
        StoredLab(name="wan", mark="m", user_namespace=True, backend="b", hosts=[host, host])
    )

    async def run() -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if await reader.readline():
                writer.write(line + b"\n")
            writer.close()

        with contextlib.chdir(place.folder):
            server = await asyncio.start_unix_server(answer, "control")
        async with server:
            with place.lock, pytest.raises(LabError, match="lab wan does not answer"):
                await asyncio.to_thread(tell, "wan", GetStatus())

    asyncio.run(run())
