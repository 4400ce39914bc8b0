"""How long the shared history takes, on a server of PostgreSQL that this starts and stops.

    python -m tests.benchmarks.shared_store [--records N] [--pairs N] [--intervals N]
        [--directory DIR]

The records are loaded by COPY, session by session as they would have come, and then one history is
used as programs use it: each insert is synced to the disk that DIR is on, each pair is read by a
program that knows nothing of it yet.
"""

import argparse
import hashlib
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import psycopg

from advisor.domain.endpoints import Pair
from advisor.domain.records import ProbeRecord
from advisor.store.history import Store
from advisor.store.postgres.address import Address
from advisor.store.postgres.backend import PostgresBackend
from advisor.store.postgres.own_server import OWNER, OwnServer
from advisor.store.postgres.rows import text_of
from advisor.store.postgres.spool import spools
from tests.benchmarks.store_bench import made_up_result
from tests.postgres_server import SharedDatabase, shared_database

_SESSION = 30
_LIMIT_S = 60.0
_WRITERS = 64
_EACH = 20
_COLUMNS = "pair_id, number, identity, kind, session, moved_files, written_by, octets, record"
_WITHOUT_INDEXES = (
    "ALTER TABLE advisor.records DROP CONSTRAINT records_pkey",
    "ALTER TABLE advisor.records DROP CONSTRAINT records_pair_id_identity_key",
)
_INDEXES = (
    "ALTER TABLE advisor.records ADD PRIMARY KEY (pair_id, number)",
    "ALTER TABLE advisor.records ADD UNIQUE (pair_id, identity)",
    "UPDATE advisor.pairs p SET newest ="
    " (SELECT max(number) FROM advisor.records r WHERE r.pair_id = p.id)",
    "VACUUM ANALYZE",
)


def _pair(number: int) -> Pair:
    return Pair(f"source{number}.example.org", "destination.example.org")


def _rtt_s(number: int, pairs: int) -> float:
    """From 1 to 300 ms."""
    return round(0.001 * 300 ** (number / pairs), 7)


def _probe(pair: int, ordinal: int, pairs: int, intervals: int) -> ProbeRecord:
    rate_bps = 1e9 + (pair * 31 + ordinal) % 997 * 1e6
    return ProbeRecord(
        pair=_pair(pair),
        subject="tcp" if ordinal % 2 else "udt",
        setting={"streams": 1 + ordinal % 25, "buffer_bytes": 4194304},
        result=made_up_result(rate_bps, intervals),
        recorded_s=1.7e9 + ordinal,
        session=f"session-{ordinal // _SESSION}-{pair}",
        rtt_s=_rtt_s(pair, pairs),
        bandwidth_bps=1e10,
    )


def _rows(records: int, pairs: int, intervals: int) -> Iterator[bytes]:
    """The rows for COPY: the records of one text each, but for what differs among them."""
    of_each = records // pairs
    parts = []
    for ordinal in range(of_each):
        # A record of the first pair, cut where others differ.
        text = text_of(_probe(0, ordinal, pairs, intervals))
        cut = text.replace("source0.", "source%d.")
        cut = cut.replace(
            f'"session-{ordinal // _SESSION}-0"', f'"session-{ordinal // _SESSION}-%d"'
        )
        rtt = msgspec.json.encode(_rtt_s(0, pairs)).decode()
        parts.append(cut.replace(f'"rtt_s":{rtt}', '"rtt_s":%s'))
    for first in range(0, of_each, _SESSION):
        for pair in range(pairs):
            rtt = msgspec.json.encode(_rtt_s(pair, pairs)).decode()
            lines = []
            for ordinal in range(first, min(first + _SESSION, of_each)):
                # In the order of the fields: pair, session, rtt_s.
                text = parts[ordinal] % (pair, pair, rtt)
                identity = hashlib.sha256(text.encode()).hexdigest()[:32]
                lines.append(
                    f"{pair + 1}\t{ordinal + 1}\t\\\\x{identity}\tprobe"
                    f"\tsession-{ordinal // _SESSION}-{pair}\tf\talice\t{len(text)}\t{text}\n"
                )
            yield "".join(lines).encode()


def load(database: SharedDatabase, records: int, pairs: int, intervals: int) -> None:
    """Fill the empty history as its owner."""
    with psycopg.connect(database.address(OWNER), autocommit=True) as connection:
        # No check of each row's pair: they are made from the same numbers.
        connection.execute("SET session_replication_role = replica")
        for statement in _WITHOUT_INDEXES:
            connection.execute(statement)
        with connection.cursor() as cursor:
            with cursor.copy("COPY advisor.pairs (source, destination) FROM STDIN") as copy:
                for pair in map(_pair, range(pairs)):
                    copy.write_row((pair.source, pair.destination))
            with cursor.copy(f"COPY advisor.records ({_COLUMNS}) FROM STDIN") as copy:
                for block in _rows(records, pairs, intervals):
                    copy.write(block)
            with cursor.copy("COPY advisor.paths FROM STDIN") as copy:
                for pair in range(pairs):
                    rtt_s = _rtt_s(pair, pairs)
                    copy.write_row((pair + 1, 0, 1e10, rtt_s, rtt_s))
            with cursor.copy(
                "COPY advisor.sessions (pair_id, session, written_by) FROM STDIN"
            ) as copy:
                for number in range(0, records // pairs, _SESSION):
                    for pair in range(pairs):
                        name = f"session-{number // _SESSION}-{pair}"
                        copy.write_row((pair + 1, name, "alice"))
        for statement in _INDEXES:
            connection.execute(statement)


def _milliseconds(what: str, calls: list[Callable[[], object]], most_s: float) -> None:
    took = []
    for call in calls:
        began_s = time.perf_counter()
        call()
        took.append((time.perf_counter() - began_s) * 1000)
    p99 = statistics.quantiles(took, n=100)[98]
    print(
        f"{what}: median {statistics.median(took):.2f} ms, p99 {p99:.2f} ms, {len(took)} calls"
        f" (at most {most_s * 1000:.0f} ms)"
    )


def _measure(database: SharedDatabase, pairs: int, intervals: int, folder: Path) -> None:
    rng = random.Random(1)
    numbers = iter(range(10**6))

    def fresh() -> Store:
        """As a program that has just been started, with nothing kept, and connected."""
        address = Address(database.address("alice"))
        backend = PostgresBackend(address, _LIMIT_S, cache=folder / f"cache{next(numbers)}")
        backend.read(Pair("a", "b"))
        return Store(backend)

    writer = fresh()
    inserts = [
        lambda n=n: writer.append(_probe(rng.randrange(pairs), 10**6 + n, pairs, intervals))
        for n in range(1000)
    ]
    _milliseconds("insert", inserts, 0.005)
    chosen = [rng.randrange(pairs) for _ in range(50)]
    stores = [fresh() for _ in chosen]
    histories = [
        lambda store=store, n=n: store.past(_pair(n), 1.8e9)
        for store, n in zip(stores, chosen, strict=True)
    ]
    _milliseconds("a pair's history", histories, 0.2)
    _milliseconds("again", histories, 0.2)
    stores = [fresh() for _ in chosen]
    similar = [
        lambda store=store, n=n: store.similar(Pair("new", "path"), _rtt_s(n, pairs) * 1.02, 1e10)
        for store, n in zip(stores, chosen, strict=True)
    ]
    _milliseconds("similar paths", similar, 0.5)
    _writers(database, pairs, intervals)


def _writers(database: SharedDatabase, pairs: int, intervals: int) -> None:
    """This many at once, each with a session and a connection of its own, on ten pairs."""

    def write(number: int) -> None:
        store = Store(database.backend("bob"))
        for ordinal in range(_EACH):
            probe = _probe(number % min(10, pairs), 2 * 10**6 + ordinal, pairs, intervals)
            store.append(msgspec.structs.replace(probe, session=f"writer-{number}"))

    began_s = time.perf_counter()
    threads = [threading.Thread(target=write, args=(n,)) for n in range(_WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took_s = time.perf_counter() - began_s
    with psycopg.connect(database.address(OWNER)) as connection:
        row = connection.execute(
            "SELECT count(*) FROM advisor.records WHERE session LIKE 'writer-%'"
        ).fetchone()
    stored = row[0] if row else 0
    waiting = sum(len(spool) for spool in spools())
    print(
        f"{_WRITERS} writers at once: {stored} of {_WRITERS * _EACH} stored, {waiting} wait,"
        f" {stored / took_s:.0f} a second"
    )


def run(folder: Path, records: int, pairs: int, intervals: int) -> None:
    """Load a history and measure it."""
    place = folder / "server"
    place.mkdir()
    # The folder is the server's account's alone; those above it must let it through.
    server = OwnServer(place, ("max_wal_size=8GB",))
    server.make()
    server.start()
    try:
        database = shared_database(server)
        began_s = time.perf_counter()
        load(database, records, pairs, intervals)
        took_s = time.perf_counter() - began_s
        print(
            f"{records} records of {intervals} intervals on {pairs} pairs: loaded in {took_s:.0f} s"
        )
        _measure(database, pairs, intervals, folder)
    finally:
        server.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--intervals", type=int, default=20)
    parser.add_argument("--directory", type=Path, help="on the disk to measure; default: a new one")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pg", dir=given.directory) as directory:
        folder = Path(directory)
        folder.chmod(0o711)
        run(folder, given.records, given.pairs, given.intervals)


if __name__ == "__main__":
    main()
