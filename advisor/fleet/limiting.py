"""What limits a pair, from the records of its last session."""

from collections.abc import Iterator, Sequence

from advisor.domain.advice import Limit
from advisor.domain.path import PathFacts
from advisor.domain.records import ProbeRecord, ProfileRecord, Record, SessionRecord
from advisor.domain.space import flows_of
from advisor.models.ceiling import capacity_of
from advisor.models.limits import binding_limits, holding, measured_limits
from advisor.store.ranking import best_results, newest_measurement
from advisor.traits import flow_names


def limits_of(records: Sequence[Record]) -> list[Limit]:
    """The limits of a session's path and those that its best result shows, as in advice.

    They are found again from what was measured: advice of others is not taken at its word.
    """
    path = next(_paths(records), None)
    probes = [one for one in records if isinstance(one, ProbeRecord)]
    results = best_results(probes, max((one.recorded_s for one in probes), default=0.0))
    if not results:
        return binding_limits(path) if path else []
    best = max(results, key=lambda one: one.throughput_bps)
    fastest_bps = max(one.throughput_bps / flows_of(one.setting, flow_names()) for one in results)
    found = holding(binding_limits(path), fastest_bps) if path else []
    measurement = newest_measurement(probes, best.subject, best.setting)
    if measurement:
        capacity_bps = capacity_of(path, measurement.throughput_bps) if path else None
        found += measured_limits(measurement, capacity_bps, path.mtu_bytes if path else None)
    return found


def _paths(records: Sequence[Record]) -> Iterator[PathFacts]:
    """The newest first."""
    for one in reversed(records):
        if isinstance(one, SessionRecord | ProfileRecord) and one.path:
            yield one.path
