"""How long the history takes: inserts, one pair's records, the lists of all pairs and sessions.

    python -m tests.benchmarks.store_bench [--records N] [--pairs N] [--intervals N]
        [--directory DIR] [--lists]

Every insert is synced to the disk that DIR is on. shared_store.py measures the one in PostgreSQL.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Interval, Measurement
from advisor.domain.records import ProbeRecord
from advisor.store.history import Store
from advisor.store.layout import JOURNAL, pair_directory


def made_up_result(rate_bps: float, intervals: int) -> Measurement:
    """A measurement of this many intervals of half a second."""
    return Measurement(
        throughput_bps=rate_bps,
        stderr_bps=rate_bps / 50,
        intervals=[Interval(0.5 * i, 0.5 * i + 0.5, 62500000 + i) for i in range(intervals)],
        steady_from=3,
        settled=True,
        elapsed_s=intervals / 2,
    )


def _probe(ordinal: int, pairs: int, intervals: int) -> ProbeRecord:
    rate_bps = 1e9 + ordinal % 997 * 1e6
    return ProbeRecord(
        pair=Pair(f"source{ordinal % pairs}.example.org", "destination.example.org"),
        subject="tcp" if ordinal % 2 else "udt",
        setting={"streams": 1 + ordinal // pairs % 25, "buffer_bytes": 4194304},
        result=made_up_result(rate_bps, intervals),
        recorded_s=1.7e9 + ordinal,
        session=f"session-{ordinal // pairs // 30}-{ordinal % pairs}",
    )


def _timed(what: str, call: Callable[[], Any]) -> None:
    began_s = time.perf_counter()
    call()
    print(f"{what}: {time.perf_counter() - began_s:.3f} s")


def _digests(directory: Path, records: int, pairs: int, intervals: int) -> None:
    """The lists of pairs and sessions, with nothing kept of them, then from what is kept."""
    print(f"lists of {records} records on {pairs} pairs")
    fill(directory / "store", records, pairs, intervals)

    def opened() -> Store:
        return Store(directory / "store", cache=directory / "cache")

    _timed("first digest", lambda: opened().sessions())
    _timed("sessions, from the cache", lambda: opened().sessions())
    _timed("pairs, from the cache", lambda: opened().pairs(1.7e9))
    store = opened()
    _timed("pairs and sessions, from the cache", lambda: (store.pairs(1.7e9), store.sessions()))
    store.append(_probe(records, pairs, intervals))
    _timed("sessions after one append, from the cache", lambda: opened().sessions())
    store.append(_probe(records + pairs, pairs, intervals))
    _timed("sessions after one append, same store", store.sessions)
    _timed("pairs again, same store", lambda: store.pairs(1.7e9))


def fill(store: Path, records: int, pairs: int, intervals: int) -> None:
    """Write this many probes, of this many pairs, as a store would have them."""
    journals: dict[Pair, list[ProbeRecord]] = {}
    for ordinal in range(records):
        probe = _probe(ordinal, pairs, intervals)
        journals.setdefault(probe.pair, []).append(probe)
    for pair, probes in journals.items():
        path = pair_directory(store, pair) / JOURNAL
        path.parent.mkdir(parents=True)
        path.write_bytes(b"".join(msgspec.json.encode(probe) + b"\n" for probe in probes))


def _run(directory: Path, records: int, pairs: int, intervals: int) -> None:
    store = Store(directory)
    inserts_ms = []
    for ordinal in range(records):
        probe = _probe(ordinal, pairs, intervals)
        began_s = time.perf_counter()
        store.append(probe)
        inserts_ms.append((time.perf_counter() - began_s) * 1000)
    print(f"{records} records of {intervals} intervals on {pairs} pairs")
    print(f"insert median: {statistics.median(inserts_ms):.3f} ms")
    print(f"insert p99: {statistics.quantiles(inserts_ms, n=100)[98]:.3f} ms")
    pair = _probe(0, pairs, intervals).pair
    fresh = Store(directory)
    _timed("load one pair", lambda: fresh.records(pair))
    _timed("load it again", lambda: fresh.records(pair))
    _timed("best of one pair", lambda: Store(directory).best(pair, 1.7e9))
    _timed("list of all pairs", lambda: Store(directory).pairs(1.7e9))
    _timed("latest unfinished session", lambda: Store(directory).latest_unfinished_session())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--intervals", type=int, default=20)
    parser.add_argument("--directory", type=Path, help="on the disk to measure; default: a new one")
    parser.add_argument("--lists", action="store_true", help="the lists alone, without inserts")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.directory) as directory:
        for pairs in dict.fromkeys((given.pairs, 1)):
            _digests(Path(directory) / f"{pairs}", given.records, pairs, given.intervals)
        if not given.lists:
            _run(Path(directory) / "run", given.records, given.pairs, given.intervals)


if __name__ == "__main__":
    main()
