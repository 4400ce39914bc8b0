"""What has changed on a pair, from its records, and what may explain it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import msgspec

from advisor.domain.endpoints import Pair
from advisor.domain.path import HostFacts, PathFacts
from advisor.domain.quantities import format_bytes, format_duration, format_rate
from advisor.domain.records import ProbeRecord, Record, SessionRecord
from advisor.models.change_point import ChangeTest, Verdict
from advisor.store.matching import OTHER_RTT_S, OTHER_RTT_SHARE
from advisor.store.ranking import best_results
from advisor.store.remarks import counting, session_of

_SIZES: Final = ("memory_bytes", "receive_max_bytes", "send_max_bytes")
_WORDS: Final = {
    "kernel": "kernel",
    "cores": "cores",
    "memory_bytes": "memory",
    "receive_max_bytes": "net.core.rmem_max",
    "send_max_bytes": "net.core.wmem_max",
    "tcp_rmem_bytes": "net.ipv4.tcp_rmem",
    "tcp_wmem_bytes": "net.ipv4.tcp_wmem",
    "congestion": "congestion control",
    "qdisc": "queueing discipline",
    "interface": "interface",
    "link_bps": "link speed",
    "mtu_bytes": "MTU of the interface",
}


class FactChange(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that differs between the last session before a change and the first after it.

    `where`: source, destination, or path. Values as text.
    """

    where: str
    fact: str
    before: str
    after: str


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A change of what a pair reaches with one subject. Times in Unix time, rates in bit/s.

    `subject`: a transport or tool; of the pairs of a fleet, what is measured by its name there.
    `since_s`: of the first record after it; `noticed_s`: of the record that made it certain.
    `records`: how many those are. `facts`: what else changed; None where it was not recorded.
    """

    pair: Pair
    subject: str
    since_s: float
    noticed_s: float
    before_bps: float
    after_bps: float
    records: int
    facts: list[FactChange] | None

    @property
    def factor(self) -> float:
        """The rate after as a multiple of that before."""
        return self.after_bps / self.before_bps


class Point(msgspec.Struct, frozen=True):
    """One result of a series: its time, its rate, and the session that it is of."""

    at_s: float
    rate_bps: float
    session: str


def changes_of(records: list[Record]) -> list[Change]:
    """The changes in one pair's records, in the order they were noticed.

    Each session counts once for each subject, with the mean of its best setting; imported records
    are a series of their own. Sessions that are deleted and outliers do not count.
    """
    paths = {r.session: r.path for r in records if isinstance(r, SessionRecord)}
    found = [
        change
        for (subject, _), points in _series(records).items()
        for change in changes_in(records[0].pair, subject, points, paths.get)
    ]
    return sorted(found, key=lambda one: one.noticed_s)


def _series(records: list[Record]) -> dict[tuple[str, str], list[Point]]:
    """By subject and origin the best rate of each session, in the order of time."""
    by_session: dict[tuple[str, str], list[ProbeRecord]] = {}
    for probe in counting(records):
        by_session.setdefault((session_of(probe), probe.origin), []).append(probe)
    found: dict[tuple[str, str], list[Point]] = {}
    for (session, origin), probes in by_session.items():
        last_s = max(probe.recorded_s for probe in probes)
        for best in best_results(probes, last_s):
            point = Point(last_s, best.throughput_bps, session)
            found.setdefault((best.subject, origin), []).append(point)
    return {key: sorted(points, key=lambda p: p.at_s) for key, points in found.items()}


def changes_in(
    pair: Pair,
    subject: str,
    points: Sequence[Point],
    path_of: Callable[[str], PathFacts | None],
) -> Iterator[Change]:
    """The changes in one series, in the order of time; `path_of` a session, None if not recorded.

    It is asked for the sessions beside a change only.
    """
    test = ChangeTest()
    for number, point in enumerate(points):
        if test.tell(point.rate_bps) is not Verdict.CHANGED or test.shift is None:
            continue
        first = number - test.shift.records + 1
        before, after = (path_of(points[n].session) for n in (first - 1, first))
        yield Change(
            pair=pair,
            subject=subject,
            since_s=points[first].at_s,
            noticed_s=point.at_s,
            before_bps=test.shift.before_bps,
            after_bps=test.shift.after_bps,
            records=test.shift.records,
            facts=fact_changes(before, after) if before and after else None,
        )


def fact_changes(before: PathFacts, after: PathFacts) -> list[FactChange]:
    """What differs between two looks at a path."""
    found = []
    if abs(after.rtt_s - before.rtt_s) > max(OTHER_RTT_SHARE * before.rtt_s, OTHER_RTT_S):
        times = format_duration(before.rtt_s), format_duration(after.rtt_s)
        found.append(_fact("path", "round-trip time (route)", *times))
    if before.mtu_bytes != after.mtu_bytes:
        found.append(_fact("path", "MTU", f"{before.mtu_bytes} B", f"{after.mtu_bytes} B"))
    if before.bandwidth_bps != after.bandwidth_bps:
        found.append(
            _fact("path", "bandwidth", *map(_rate, (before.bandwidth_bps, after.bandwidth_bps)))
        )
    for where in ("source", "destination"):
        addresses = [getattr(path, f"{where}_address") for path in (before, after)]
        if addresses[0] != addresses[1]:
            found.append(_fact(where, "address", *addresses))
        found += _of_host(where, getattr(before, where), getattr(after, where))
    return found


def _of_host(where: str, before: HostFacts, after: HostFacts) -> Iterator[FactChange]:
    for name, words in _WORDS.items():
        values = getattr(before, name), getattr(after, name)
        if values[0] != values[1]:
            yield _fact(where, words, *(_text(name, value) for value in values))
    for program in sorted(before.versions.keys() | after.versions.keys()):
        versions = [host.versions.get(program, "not there") for host in (before, after)]
        if versions[0] != versions[1]:
            yield _fact(where, program, *versions)


def _fact(where: str, fact: str, before: str, after: str) -> FactChange:
    return FactChange(where=where, fact=fact, before=before, after=after)


def _text(name: str, value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    if name in _SIZES and isinstance(value, int):
        return format_bytes(value)
    if name == "link_bps" and isinstance(value, int | float):
        return _rate(value)
    return "unknown" if value is None else str(value)


def _rate(rate_bps: float | None) -> str:
    return "unknown" if rate_bps is None else format_rate(rate_bps)
