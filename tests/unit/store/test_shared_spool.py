"""The history in PostgreSQL when it is not reached, or somebody is killed."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from advisor.domain import events as ev
from advisor.domain.endpoints import Pair
from advisor.store.errors import StoreError
from advisor.store.history import Store
from advisor.store.postgres.address import Address
from advisor.store.postgres.backend import PostgresBackend
from advisor.store.postgres.database import Database
from advisor.store.postgres.own_server import OwnServer
from advisor.store.postgres.spool import Waiting, spools
from tests.postgres_server import SharedDatabase, shared_database, temporary_server
from tests.unit.store.conftest import PAIR, make_a_probe, make_a_session, make_an_advice


@pytest.fixture
def server() -> Iterator[OwnServer]:
    """A server of this test's own, to be stopped and killed."""
    with temporary_server() as made:
        yield made


@pytest.fixture
def own(server: OwnServer) -> SharedDatabase:
    return shared_database(server)


def again(backend: PostgresBackend) -> Store:
    """The history as the next program has it, which knows of no failure."""
    return Store(PostgresBackend(backend.address, 60.0))


# --- not reached


def test_what_cannot_be_sent_waits_on_this_host_and_is_sent_later(
    own: SharedDatabase, server: OwnServer
) -> None:
    backend = own.backend("alice")
    store = Store(backend)
    store.append(make_a_session("s", 1.0))
    assert len(store.records(PAIR)) == len(store.pairs()) == 1
    server.stop()
    probes = [make_a_probe(session="s", recorded_s=2.0 + n) for n in range(3)]
    for probe in probes:
        store.append(probe)
    assert store.probes(PAIR) == probes
    assert [pair.records for pair in store.pairs(10.0)] == [4]
    assert store.latest_unfinished_session() == (make_a_session("s", 1.0), probes)
    said = " ".join(store.notices)
    assert "3 records on this host wait to be sent" in said
    assert "cannot be reached" in said
    assert said == " ".join(store.past(PAIR, 10.0).notes)
    server.start()
    later = again(backend)
    later.append(make_an_advice("s", 9.0))  # Sends what waits, in order.
    assert later.notices == []
    assert later.records(PAIR) == [make_a_session("s", 1.0), *probes, make_an_advice("s", 9.0)]


def test_without_a_server_what_was_read_is_known_to_the_next_program(
    own: SharedDatabase, server: OwnServer
) -> None:
    backend = own.backend("alice")
    store = Store(backend)
    store.append(make_a_session("s", 1.0))
    store.append(make_a_probe(session="s", recorded_s=2.0, rtt_s=0.05))
    store.append(make_an_advice("s", 4.0))
    known, summaries = store.records(PAIR), store.pairs(10.0)
    server.stop()
    later = again(backend)
    assert later.records(PAIR) == known
    assert [s.best for s in later.pairs(10.0)] == [s.best for s in summaries]
    assert later.similar(Pair("x", "y"), 0.05, None) != []
    assert later.events(PAIR, "s") == []
    assert "cannot be reached" in later.notices[0]


@pytest.mark.parametrize("connected", [True, False])
def test_a_server_that_hangs_is_asked_once_and_not_waited_for(
    own: SharedDatabase,
    server: OwnServer,
    monkeypatch: pytest.MonkeyPatch,
    connected: bool,
) -> None:
    database = Database(Address(own.address("alice")), 60.0)
    store = Store(PostgresBackend(database.address, database=database))
    if connected:
        assert store.records(PAIR) == []
    asked: list[float] = []
    real = Database._within_limit

    def spy(self: Database, work: Any) -> Any:
        asked.append(self.limit_s)
        return real(self, work)

    monkeypatch.setattr(Database, "_within_limit", spy)
    database.limit_s = 0.2
    server.suspend(on=True)
    try:
        for number in range(20):
            store.append(make_a_probe(recorded_s=float(number)))
    finally:
        server.suspend(on=False)
    assert asked == [0.2]
    assert "no answer within 0.2 s" in store.notices[0]
    assert len(store.probes(PAIR)) == 20
    sending = own.backend("alice")
    # What the database stored after all is not stored twice.
    assert sending.send_waiting().waiting == 0
    assert len(Store(sending).probes(PAIR)) == 20


def test_a_server_started_again_is_just_asked_again(own: SharedDatabase, server: OwnServer) -> None:
    store = Store(own.backend("alice"))
    store.append(make_a_probe(recorded_s=1.0))
    server.stop()
    server.start()
    store.append(make_a_probe(recorded_s=2.0))
    assert store.notices == []
    assert len(store.probes(PAIR)) == 2


def test_without_a_server_what_is_measured_can_be_stored_if_the_spool_can(
    own: SharedDatabase, server: OwnServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server.stop()
    Store(own.backend("rita")).check_access(PAIR)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(StoreError, match="file"):
        Store(own.backend("alice")).check_access(PAIR)


def test_events_and_outputs_wait_too(own: SharedDatabase, server: OwnServer) -> None:
    backend = own.backend("alice")
    store = Store(backend)
    store.append(make_a_session("s", 1.0))
    server.stop()
    log = store.event_log(PAIR, "s")
    log(ev.Notice(at_s=0.0, message="first"))
    log.close()
    store.keep_raw(PAIR, "s", "0001 out", b"printed")
    assert store.events(PAIR, "s") == [ev.Notice(at_s=0.0, message="first")]
    server.start()
    later = again(backend)
    assert isinstance(later.kept, PostgresBackend)
    later.kept.send_waiting()
    assert not list((backend.spool.folder / "raw").iterdir())
    log = later.event_log(PAIR, "s")
    log(ev.Notice(at_s=1.0, message="resumed"))
    log.close()
    kept = Store(own.backend("rita")).events(PAIR, "s")
    assert [event.message for event in kept if isinstance(event, ev.Notice)] == ["first", "resumed"]


_LIMITED = """
import resource, sys
from advisor.store.errors import StoreFull
from advisor.store.history import Store
from advisor.store.opening import open_shared
from tests.unit.store.conftest import make_a_probe
store = Store(open_shared(sys.argv[1], 60.0))
stored = 0
store.append(make_a_probe(recorded_s=0.0))
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
try:
    while True:
        store.append(make_a_probe(recorded_s=stored + 1.0))
        stored += 1
except StoreFull as error:
    print(stored + 1, error)
"""


def test_a_full_disk_acknowledges_nothing_and_loses_nothing(
    own: SharedDatabase, server: OwnServer
) -> None:
    server.stop()
    command = [sys.executable, "-c", _LIMITED, own.address("alice")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    stored, message = done.stdout.split(maxsplit=1)
    backend = own.backend("alice")
    assert str(backend.spool.folder / "journal.jsonl") in message
    assert len(backend.spool) == int(stored) > 1
    server.start()
    backend.send_waiting()
    times = [probe.recorded_s for probe in Store(backend).probes(PAIR)]
    assert times == [float(number) for number in range(int(stored))]


def test_several_spools_are_found_by_their_addresses(
    own: SharedDatabase, server: OwnServer
) -> None:
    server.stop()
    for user in ("alice", "bob"):
        Store(own.backend(user)).append(make_a_probe())
    assert {spool.address.uri for spool in spools()} == {own.address("alice"), own.address("bob")}
    for spool in spools():
        assert spool.folder.stat().st_mode & 0o777 == 0o700
        assert all(file.stat().st_mode & 0o077 == 0 for file in spool.folder.iterdir())


# --- killed


_SENDER = """
import os, signal, sys
from advisor.store.opening import open_shared
from advisor.store.postgres import spool
after = sys.argv[2]
if after == "sent":
    spool.Spool.remove = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
open_shared(sys.argv[1], 60.0).send_waiting()
if after == "removed":
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("after", ["sent", "removed"])
def test_a_sender_that_is_killed_stores_nothing_twice(
    shared_database: SharedDatabase, after: str
) -> None:
    backend = shared_database.backend("alice")
    probes = [make_a_probe(recorded_s=float(n)) for n in range(7)]
    backend.spool.add(Waiting(probe) for probe in probes)
    command = [sys.executable, "-c", _SENDER, backend.argument, after]
    assert subprocess.run(command, check=False).returncode == -9
    assert len(backend.spool) == (7 if after == "sent" else 0)
    assert again(backend).probes(PAIR)[:7] == probes
    backend.send_waiting()
    assert len(backend.spool) == 0
    assert backend.read(PAIR)[0] == probes


_WRITER = """
import sys
from advisor.store.history import Store
from advisor.store.opening import open_shared
from tests.unit.store.conftest import make_a_probe
store = Store(open_shared(sys.argv[1], 60.0))
for number in range(100_000):
    store.append(make_a_probe(session=sys.argv[2], recorded_s=float(number)))
    print(number, flush=True)
"""


def test_a_server_killed_while_many_write_loses_nothing_acknowledged(
    own: SharedDatabase, server: OwnServer
) -> None:
    commands = [[sys.executable, "-c", _WRITER, own.address("alice"), f"s{n}"] for n in range(4)]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE) for command in commands]
    acknowledged: list[list[int]] = [[] for _ in writers]

    def follow(number: int) -> None:
        out = writers[number].stdout
        assert out is not None
        with out:
            for line in out:
                acknowledged[number].append(int(line))

    threads = [threading.Thread(target=follow, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()

    def all_have(least: int) -> None:
        while min(map(len, acknowledged)) < least:
            assert all(writer.poll() is None for writer in writers)
            time.sleep(0.01)

    try:
        all_have(20)
        server.kill()
        all_have(max(map(len, acknowledged)) + 20)
        server.start()
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
        for thread in threads:
            thread.join()
    backend = own.backend("alice")
    backend.send_waiting()
    stored = [(p.session, p.recorded_s) for p in Store(backend).probes(PAIR)]
    assert len(stored) == len(set(stored))
    for number, kept in enumerate(acknowledged):
        assert {(f"s{number}", float(n)) for n in kept} <= set(stored)


def test_sixty_four_at_once_lose_nothing(shared_database: SharedDatabase) -> None:
    def write(number: int) -> None:
        store = Store(shared_database.backend("bob" if number % 2 else "alice"))
        for n in range(5):
            store.append(make_a_probe(session=f"s{number}", recorded_s=float(n)))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store = Store(shared_database.backend("rita"))
    assert {(p.session, p.recorded_s) for p in store.probes(PAIR)} == {
        (f"s{number}", float(n)) for number in range(64) for n in range(5)
    }
    assert len(store.probes(PAIR)) == 320
    assert not list(spools())
