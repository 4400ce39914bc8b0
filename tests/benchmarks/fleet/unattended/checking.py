"""Holds what workers have noted against what the database has."""

import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from advisor.domain.records import ProbeRecord, Record
from advisor.fleet.state import reading
from advisor.fleet.state.connecting import DatabaseConnection, connected
from advisor.fleet.state.standing import pairs_of
from advisor.runtime.advisor_child import ADVISOR
from advisor.store.postgres.address import Address
from advisor.store.postgres.backend import PostgresBackend
from advisor.store.postgres.rows import text_of
from tests.benchmarks.fleet.unattended.results import Found
from tests.benchmarks.fleet.unattended.site import Site
from tests.benchmarks.fleet.unattended.worker import Acknowledged
from tests.benchmarks.wan.hosts import Trouble

_LIMIT_S = 60.0
_SENDING_S = 300.0
_NOTED = msgspec.json.Decoder(Acknowledged)


class Span(msgspec.Struct, frozen=True, order=True):
    """Something at a host, in Unix time. `of`: what it belongs to."""

    host: str
    began_s: float
    ended_s: float
    of: str


def noted(folder: Path) -> Iterator[Acknowledged]:
    """What workers have noted; a killed one may have left its last line unfinished."""
    for file in sorted(folder.iterdir()):
        whole, _, _ = file.read_bytes().rpartition(b"\n")
        yield from map(_NOTED.decode, whole.splitlines())


def missing(acknowledged: Iterable[Record], stored: Iterable[Record]) -> list[Record]:
    """Those that were acknowledged and are not stored."""
    there = set(map(text_of, stored))
    return [record for record in acknowledged if text_of(record) not in there]


def at_once(spans: Iterable[Span]) -> list[tuple[Span, Span]]:
    """Those at one host that overlap and belong to different things."""
    found: list[tuple[Span, Span]] = []
    open_ones: list[Span] = []
    for span in sorted(spans):
        open_ones = [
            one for one in open_ones if one.host == span.host and one.ended_s > span.began_s
        ]
        found += [(one, span) for one in open_ones if one.of != span.of]
        open_ones.append(span)
    return found


def probe_spans(records: Iterable[Record]) -> Iterator[Span]:
    """Each probe, at both of its hosts."""
    for record in records:
        if isinstance(record, ProbeRecord):
            began_s = record.recorded_s - record.result.elapsed_s
            for host in (record.pair.source, record.pair.destination):
                yield Span(host, began_s, record.recorded_s, record.session)


def look(site: Site, cache: Path) -> Found:
    """Send what waits, and read everything. The workers have been stopped."""
    waiting = _sent(site)
    stored = list(_stored(site.workers_address, cache))
    acknowledged = list(noted(site.acknowledged))
    with connected(site.address) as connection:
        pairs = list(pairs_of(reading.fleet_state(connection)))
        attempts = list(_attempt_spans(connection))
        outcomes = reading.outcomes(connection)
        failures = Counter(
            str(row[0])
            for row in connection.execute(
                "SELECT message FROM advisor.fleet_attempts WHERE outcome = 'failed'"
            )
        )
    probes = list(probe_spans(stored))
    return Found(
        attempts=outcomes,
        failures=dict(failures.most_common()),
        acknowledged=len(acknowledged),
        spooled=sum(one.spooled for one in acknowledged),
        lost=len(missing((one.record for one in acknowledged), stored)),
        waiting=waiting,
        probes=len(probes) // 2,
        probes_at_once=len(at_once(probes)),
        attempts_at_once=len(at_once(attempts)),
        pairs=len(pairs),
        covered=sum(one.last_s is not None for one in pairs),
        named={
            f"{one.source}->{one.destination}": one.reason for one in pairs if one.last_s is None
        },
    )


def _stored(address: Address, cache: Path) -> Iterator[Record]:
    backend = PostgresBackend(address, cache=cache, limit_s=_LIMIT_S, takes="everything")
    for pair in backend.pairs():
        records, _ = backend.read(pair)
        yield from records


def _attempt_spans(connection: DatabaseConnection) -> Iterator[Span]:
    rows = connection.execute(
        "SELECT id, source, destination, began_s, ended_s FROM advisor.fleet_attempts"
        " WHERE ended_s IS NOT NULL"
    )
    for number, source, destination, began_s, ended_s in rows:
        for host in (source, destination):
            yield Span(str(host), float(began_s), float(ended_s), str(number))


def _sent(site: Site) -> int:
    """Send what waits in the spool; how many records wait after that."""
    done = subprocess.run(
        [*ADVISOR, "store", "send"],
        env=site.environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=_SENDING_S,
    )
    waiting = re.findall(r", (\d+) wait", done.stdout)
    if done.returncode and not waiting:
        raise Trouble(f"the spool cannot be sent: {done.stderr.strip()}")
    return sum(map(int, waiting))
