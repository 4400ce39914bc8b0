"""Stored probes that moved files, as the past transfers that HARP learns from."""

from collections.abc import Iterable, Iterator
from itertools import product

import msgspec

from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Measurement
from advisor.domain.path import PathFacts
from advisor.domain.records import ProbeRecord
from advisor.domain.space import stored_count
from advisor.domain.transfers import Conditions, Levels, PastTransfer
from advisor.models.transfer_heuristics import buffer_of
from advisor.models.transfer_parameters import pipelining_level


def transfers_of(probes: Iterable[ProbeRecord]) -> Iterator[PastTransfer]:
    """The successful file transfers among the probes, in order.

    A level missing from a setting counts as 1, an automatic pipelining as 2. Probes from memory to
    memory, and settings without concurrency and parallelism or with anything else in their place,
    are left out. A throughput
    is the one while data flowed, whatever the tool needed to begin and to end.
    """
    for probe in probes:
        result = probe.result
        if not isinstance(result, Measurement) or result.throughput_bps <= 0:
            continue
        if probe.file_bytes and (levels := _levels(probe)):
            yield PastTransfer(
                conditions=Conditions(
                    file_bytes=probe.file_bytes,
                    file_count=probe.files or None,
                    bandwidth_bps=probe.bandwidth_bps or None,
                    rtt_s=probe.rtt_s or None,
                    buffer_bytes=probe.buffer_bytes or None,
                    network=str(probe.pair),
                ),
                levels=levels,
                throughput_bps=result.throughput_bps,
                when_s=probe.recorded_s,
            )


def _levels(probe: ProbeRecord) -> Levels | None:
    setting = probe.setting
    if not setting.keys() & {"concurrency", "parallelism"}:
        return None
    names = ("concurrency", "parallelism", "pipelining")
    found = [stored_count(setting, name) if name in setting else 1 for name in names]
    counts = [one for one in found if one is not None]
    if len(counts) < len(names):
        return None
    concurrency, parallelism, pipelining = counts
    return Levels(
        concurrency=max(1, concurrency),
        parallelism=max(1, parallelism),
        pipelining=pipelining_level(pipelining),
    )


def completed(
    transfers: Iterable[PastTransfer], pair: Pair, path: PathFacts
) -> Iterator[PastTransfer]:
    """The transfers, with those between these two hosts completed from today's path facts.

    A server's log contains neither RTT nor bandwidth nor buffers. `pair`: as the user names the
    hosts; a log may use their own names or their addresses.
    """
    here = _networks(pair, path)
    today = {
        "bandwidth_bps": path.capacity_bps,
        "rtt_s": path.rtt_s,
        "buffer_bytes": buffer_of(path),
    }
    for one in transfers:
        found = one.conditions
        missing = {name: v for name, v in today.items() if v and getattr(found, name) is None}
        if missing and found.network in here:
            found = msgspec.structs.replace(found, **missing)
            yield msgspec.structs.replace(one, conditions=found)
        else:
            yield one


def _networks(pair: Pair, path: PathFacts) -> set[str]:
    sources = {pair.source, path.source_address, path.source.hostname}
    destinations = {pair.destination, path.destination_address, path.destination.hostname}
    return {str(Pair(*ends)) for ends in product(sources, destinations) if all(ends)}
