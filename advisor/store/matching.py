"""Which stored probes are evidence for the present connection. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from advisor.domain.connection import Connection
from advisor.domain.measurement import Measurement
from advisor.domain.path import PathFacts
from advisor.domain.quantities import format_duration, format_rate
from advisor.domain.records import ProbeRecord, Record, SessionRecord

OTHER_RTT_SHARE: Final = 0.2
OTHER_RTT_S: Final = 0.002
"""A path whose RTT differs by more than both is another one: rerouted, or a testbed that was made
again with other options under the same name."""

SAME_SHARE: Final = 0.05
"""Link speeds and packet sizes that differ by more are others; less is rounding and headers."""

_UNKNOWN: Final = "Recorded without the addresses and the link speed of the connection."


class Matched(NamedTuple):
    """The probes that apply. `ignored`: a phrase for each reason why others do not, with their
    number. `caution`: why not to rely on those that apply, "" for no reason. `faster`: probes that
    would apply if no lower rate were reserved now."""

    probes: list[ProbeRecord]
    ignored: list[str]
    caution: str
    faster: Sequence[ProbeRecord] = ()


def of_this_rtt(probes: Iterable[ProbeRecord], rtt_s: float | None) -> list[ProbeRecord]:
    """The probes measured at about this RTT; all, where it is not known.

    Probes whose RTT was not recorded are included.
    """
    return [p for p in probes if not _is_other_rtt(p, rtt_s)]


def of_this_connection(
    probes: Sequence[ProbeRecord],
    path: PathFacts | None,
    connections: Mapping[str, Connection],
) -> Matched:
    """The probes that apply to `path`; all of them, where it is None.

    `connections`: those of sessions whose probes were stored without.
    """
    if path is None:
        return Matched(list(probes), [], "")
    known = [(probe, _connection(probe, connections)) for probe in probes]
    reasons = [_why_not(probe, connection, path) for probe, connection in known]
    kept = [both for both, reason in zip(known, reasons, strict=True) if not reason]
    return Matched(
        [probe for probe, _ in kept if not _is_faster(probe, path.bandwidth_bps)],
        [count_words(number, why) for why, number in Counter(filter(None, reasons)).items()],
        _caution([connection for _, connection in kept], path),
        [probe for probe, _ in kept if _is_faster(probe, path.bandwidth_bps)],
    )


def connections_of(records: Iterable[Record]) -> dict[str, Connection]:
    """The connections of sessions by their ids, from the path that each was opened with."""
    return {r.session: Connection.of(r.path) for r in records if isinstance(r, SessionRecord)}


def _connection(probe: ProbeRecord, connections: Mapping[str, Connection]) -> Connection | None:
    return probe.connection or connections.get(probe.session)


def _why_not(probe: ProbeRecord, connection: Connection | None, path: PathFacts) -> str:
    """Why a probe says nothing about the path; "" where it does."""
    # Within one host nothing is rerouted: a longer round trip shows that others compute.
    is_one_host = path.source_address == path.destination_address
    if not is_one_host and _is_other_rtt(probe, path.rtt_s) and probe.rtt_s is not None:
        then, now = format_duration(probe.rtt_s), format_duration(path.rtt_s)
        return f"at a round-trip time of {then}; it is {now} now"
    if probe.mtu_bytes and _differ(probe.mtu_bytes, path.mtu_bytes):
        return f"with packets of {probe.mtu_bytes} B; they have {path.mtu_bytes} B now"
    if connection and connection.is_beside(Connection.of(path)):
        then, now = connection.words, Connection.of(path).words
        return f"from {then}; it is from {now} now"
    link_bps = connection.link_bps if connection else None
    if link_bps and path.link_bps and _differ(link_bps, path.link_bps):
        then, now = format_rate(link_bps), format_rate(path.link_bps)
        return f"over a link of {then}; it has {now} now"
    # The speed that an interface reports may be wrong: then it was so in the record, too.
    most_bps = None if link_bps or path.bandwidth_bps else path.link_bps
    return faster_words(most_bps) if most_bps and _is_faster(probe, most_bps) else ""


def faster_words(most_bps: float) -> str:
    """Why probes do not count that are faster than the connection."""
    return f"faster than the {format_rate(most_bps)} that this connection has"


def _is_faster(probe: ProbeRecord, most_bps: float | None) -> bool:
    rate_bps = probe.result.throughput_bps if isinstance(probe.result, Measurement) else 0.0
    return most_bps is not None and rate_bps > (1 + SAME_SHARE) * most_bps


def _is_other_rtt(probe: ProbeRecord, rtt_s: float | None) -> bool:
    if rtt_s is None or probe.rtt_s is None:
        return False
    return abs(probe.rtt_s - rtt_s) > max(OTHER_RTT_SHARE * rtt_s, OTHER_RTT_S)


def _differ(one: float, other: float) -> bool:
    return abs(one - other) > SAME_SHARE * max(one, other)


def count_words(number: int, why: str) -> str:
    """`3 probes over a link of 10 Gbit/s`."""
    return f"{number} {'probe' if number == 1 else 'probes'} {why}"


def _caution(connections: Sequence[Connection | None], path: PathFacts) -> str:
    now = (path.source_address, path.destination_address)
    known = [c for c in connections if c]
    changed = [c for c in known if (c.source_address, c.destination_address) != now]
    if changed:
        then = changed[-1]
        return (
            f"Measured between {then.source_address} and {then.destination_address}; the addresses "
            "are others now."
        )
    return _UNKNOWN if len(known) < len(connections) else ""
