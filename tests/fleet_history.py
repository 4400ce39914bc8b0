"""A database with a fleet that has been at work for months, written by the superuser at once."""

import hashlib
import math
import random
from collections.abc import Iterator

import msgspec
import psycopg

from advisor.domain.endpoints import Pair
from advisor.domain.measurement import EndLoad, Interval, Measurement
from advisor.domain.path import PathFacts
from advisor.domain.records import ProbeRecord, Record, SessionRecord
from advisor.fleet.state.changing import apply
from advisor.store.postgres.rows import kind_of, text_of
from advisor.testing.samples import a_host, a_path
from tests.postgres_server import OWNER, SharedDatabase

DAY_S = 86_400.0
_PROBES = 12


def mesh_of(hosts: list[str]) -> str:
    """`fleet.toml`: throughput of all pairs once a week, and the paths from the first host."""
    tables = "".join(f'[hosts.{name}]\nbandwidth = "10Gbit"\n' for name in hosts)
    return (
        f'[limits]\nshare-per-day = "100%"\n{tables}'
        '[measure.mesh]\nwhat = "advice"\nbetween = "mesh"\nevery = "7d"\nbudget = "30s"\n'
        '[measure.paths]\nwhat = "path"\nbetween = "hub-and-spokes"\n'
        f'hubs = ["{hosts[0]}"]\nspokes = ["all"]\ndirection = "from-hubs"\n'
        'every = "1d"\nbudget = "5s"\n'
    )


class Filling:
    """The history of a mesh of `hosts`: each pair measured `results` times, once a week.

    The second host falls to half its rate when the last quarter begins, with another kernel. The
    last host is down and was never measured; the pair of the third and the first fails.
    """

    def __init__(self, hosts: list[str], results: int, now_s: float) -> None:
        self.hosts, self._results, self._now_s = hosts, results, now_s
        self._random = random.Random(1)

    def write(self, database: SharedDatabase) -> None:
        """Write all of it."""
        with psycopg.connect(database.address("olga"), autocommit=True) as connection:
            apply(connection, mesh_of(self.hosts))
        with psycopg.connect(database.address(OWNER)) as connection:
            connection.execute(
                "INSERT INTO advisor.fleet_workers (name, account, started_s, seen_s)"
                " VALUES ('w', 'alice', 0, 0)"
            )
            self._write_fleet(connection)
            self._write_records(connection)
        database.execute("ANALYZE")

    def _ends(self) -> Iterator[tuple[int, int]]:
        measured = range(len(self.hosts) - 1)
        return ((i, j) for i in measured for j in measured if i != j)

    def _fails(self, ends: tuple[int, int]) -> bool:
        return ends == (2, 0)

    def _at_s(self, number: int) -> float:
        return self._now_s - (self._results - number) * 7 * DAY_S + DAY_S

    def _changed(self, ends: tuple[int, int], number: int) -> bool:
        return 1 in ends and number >= 0.75 * self._results

    def _rate_bps(self, ends: tuple[int, int], number: int) -> float:
        base = (9.4e9, 8.7e9, 6.1e9, 4.2e9, 2.4e9)[sum(ends) % 5] * self._random.uniform(0.96, 1.04)
        return base / 2 if self._changed(ends, number) else base

    def _write_fleet(self, connection: psycopg.Connection[tuple[object, ...]]) -> None:
        columns = "worker_id, account, task, source, destination, why, began_s, seen_s, ended_s"
        with connection.cursor().copy(
            f"COPY advisor.fleet_attempts ({columns}, most_bytes, moved_bytes, outcome, rate_bps,"
            " rtt_s, session) FROM STDIN"
        ) as copy:
            for ends in self._ends():
                names = [self.hosts[n] for n in ends]
                for number in range(self._results):
                    at_s, rate_bps = self._at_s(number), self._rate_bps(ends, number)
                    when = (at_s - 40, at_s, at_s, 1e10, 1e9)
                    row = (1, "alice", "mesh", *names, "age", *when, "done", rate_bps, 0.045)
                    copy.write_row((*row, _session(names, number)))
        connection.execute(
            "INSERT INTO advisor.fleet_pairs (task, source, destination, last_s, rate_bps, rtt_s,"
            " stored_source, stored_destination) SELECT DISTINCT ON (task, source, destination)"
            " task, source, destination, ended_s, rate_bps, rtt_s, source, destination"
            " FROM advisor.fleet_attempts ORDER BY task, source, destination, id DESC"
        )
        connection.execute(
            "UPDATE advisor.fleet_pairs SET failures = 3, failed_s = %s,"
            " message = 'the agent refused: its version is 0.0.9'"
            " WHERE source = %s AND destination = %s",
            (self._now_s - 3600, self.hosts[2], self.hosts[0]),
        )
        connection.execute(
            "INSERT INTO advisor.fleet_hosts (host, failures, failed_s, message)"
            " VALUES (%s, 4, %s, 'ssh: connect to host port 22: No route to host')",
            (self.hosts[-1], self._now_s - 600),
        )

    def _write_records(self, connection: psycopg.Connection[tuple[object, ...]]) -> None:
        ids = {}
        for ends in self._ends():
            names = tuple(self.hosts[n] for n in ends)
            row = connection.execute(
                "INSERT INTO advisor.pairs (source, destination) VALUES (%s, %s) RETURNING id",
                names,
            ).fetchone()
            assert row
            ids[ends] = row[0]
        with connection.cursor().copy(
            "COPY advisor.records (pair_id, number, identity, kind, session, moved_files,"
            " written_by, octets, record) FROM STDIN"
        ) as copy:
            for ends, pair_id in ids.items():
                for number, record in enumerate(self._records(ends), 1):
                    text = text_of(record)
                    digest = hashlib.sha256(f"{pair_id} {number}".encode()).digest()[:16]
                    row = (digest, kind_of(record), record.session, False, "alice")  # type: ignore[union-attr] # those below have one
                    copy.write_row((pair_id, number, *row, len(text), text))
        connection.execute("UPDATE advisor.pairs SET newest = 1000")

    def _records(self, ends: tuple[int, int]) -> Iterator[Record]:
        """Of the sessions beside the change, and of the last one with its probes."""
        names = [self.hosts[n] for n in ends]
        pair = Pair(*names)
        last = self._results - 1
        for number in sorted({*range(math.ceil(0.75 * last) - 2, last), last}):
            if number < 0:
                continue
            session, at_s = _session(names, number), self._at_s(number)
            path = self._path(ends, number)
            yield SessionRecord(
                session=session, pair=pair, recorded_s=at_s - 30, request={}, path=path
            )
            if number == last:
                for probe in range(_PROBES):
                    yield self._probe(pair, session, at_s, probe, self._rate_bps(ends, number))

    def _path(self, ends: tuple[int, int], number: int) -> PathFacts:
        hosts = []
        for n in ends:
            kernel = "6.12.4" if n == 1 and self._changed(ends, number) else "6.1.0"
            small = 8 * 2**20 if n == 3 else 64 * 2**20
            hosts.append(
                a_host(
                    hostname=self.hosts[n],
                    kernel=kernel,
                    receive_max_bytes=small,
                    mtu_bytes=1500 if n == 4 else 9000,
                )
            )
        return a_path(source=hosts[0], destination=hosts[1], rtt_s=0.045)

    def _probe(
        self, pair: Pair, session: str, at_s: float, number: int, rate_bps: float
    ) -> ProbeRecord:
        streams = 1 + number % 4
        reached = rate_bps * (0.55 + 0.15 * (streams - 1))
        load = EndLoad(process_cores=0.97, host_share=0.2, thread_cores=0.97)
        return ProbeRecord(
            pair=pair,
            subject="tcp",
            setting={"streams": streams, "buffer_bytes": 2**25},
            result=Measurement(
                throughput_bps=reached,
                stderr_bps=reached / 50,
                intervals=[Interval(n / 2, (n + 1) / 2, int(reached / 16)) for n in range(8)],
                steady_from=1,
                settled=True,
                elapsed_s=4.0,
                sender=load if pair.source.endswith("4") else None,
            ),
            recorded_s=at_s - 20 + number,
            session=session,
        )


def _session(names: list[str], number: int) -> str:
    return msgspec.json.encode([*names, number]).hex()[-20:] + f"-{number}"
