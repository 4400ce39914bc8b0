"""Runs one path: sessions, then the advised lines, the default and a small sweep, by a shell."""

from __future__ import annotations

import contextlib
import math
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from tests.benchmarks.truth.abreast import Capacity
from tests.benchmarks.truth.paths import TruthPath
from tests.benchmarks.truth.results import Advised, Done, Results, Truth
from tests.benchmarks.truth.sweep import default_key, run_sweep
from tests.benchmarks.wan.cases import Case
from tests.benchmarks.wan.hosts import Lab
from tests.benchmarks.wan.measuring import instrument
from tests.benchmarks.wan.results import Late, Setting, key_of
from tests.benchmarks.wan.running import say

THIS: Final = "this"
_SESSION_AT_MOST_S: Final = 600.0


def run_path(
    folder: Path,
    path: TruthPath,
    versions: Mapping[str, Path | None],
    results: Results,
    capacity: Capacity,
) -> None:
    """All of a path in one go, unless it is done. `versions`: checkouts by name."""
    case = path.case
    if results.all(Done, case.key):
        return
    say(f"({case.key}) {case.title}")
    with Lab(folder, case, seed=1, name=f"truth-{case.key}") as lab:
        advised = [
            _known(case, name, results) or _session(lab, case, name, checkout, results, capacity)
            for name, checkout in versions.items()
        ]
        runs = _Runs(lab, path, results, capacity)
        chosen = [(one.transport, one.setting) for one in advised if one.setting]
        swept = run_sweep(path, chosen, runs.run)
        results.add(Done(case=case.key, default=default_key(case), swept=swept))
        if late := lab.late():
            results.add(Late(case=case.key, part="all", p99_s=late[0], most_s=late[1]))


def _known(case: Case, version: str, results: Results) -> Advised | None:
    known = [a for a in results.all(Advised, case.key) if a.version == version]
    return known[-1] if known else None


def _session(
    lab: Lab,
    case: Case,
    version: str,
    checkout: Path | None,
    results: Results,
    capacity: Capacity,
) -> Advised:
    # Beside others it finds busy hosts, and advises for them.
    with _measuring(lab, capacity, 1), tempfile.TemporaryDirectory() as store:
        before, began_s = lab.sent_bytes(), time.monotonic()
        events, _ = lab.advisor(
            *("advise", lab.endpoint, "--seed", "1", "--measure", "--store", store),
            timeout_s=_SESSION_AT_MOST_S,
            checkout=checkout,
        )
        seconds, sent_bytes = time.monotonic() - began_s, lab.sent_bytes() - before
    last: dict[str, Any] = events[-1] if events else {}
    gain = last.get("gain")
    line = Advised(
        case=case.key,
        title=case.title,
        version=version,
        transport=last.get("transport", ""),
        setting=last.get("setting"),
        expected_bps=last.get("expected_bps", 0.0),
        interval_bps=tuple(last.get("interval_bps", (0.0, 0.0))),
        gain=(gain["value"], *gain["interval"]) if isinstance(gain, dict) else _flat(gain),
        probes=sum(e["event"] == "probe_ended" for e in events),
        seconds=seconds,
        sent_bytes=sent_bytes,
        ended=[e["reason"] for e in events if e["event"] == "stage_ended"],
    )
    results.add(line)
    say(
        f"  ({case.key}) {version}: {line.transport} {line.setting}, "
        f"{line.expected_bps / 1e6:.0f} Mbit/s, {line.probes} probes, {seconds:.0f} s, "
        f"{line.sent_bytes / 1e9:.2f} GB"
    )
    return line


def _flat(gain: Any) -> tuple[float, float, float] | None:
    return (gain[0], *gain[1]) if gain else None


@contextlib.contextmanager
def _measuring(lab: Lab, capacity: Capacity, weight: float) -> Iterator[None]:
    """With this much of the machine, and the path's load on meanwhile."""
    with capacity.taken(weight):
        lab.load(True)
        try:
            yield
        finally:
            lab.load(False, settle_s=0)


class _Runs:
    """The long runs on a path."""

    def __init__(self, lab: Lab, path: TruthPath, results: Results, capacity: Capacity) -> None:
        self._lab, self._path, self._case = lab, path, path.case
        self._results, self._capacity = results, capacity
        self._counts: Counter[str] = Counter()

    def run(self, transport: str, setting: Setting) -> float:
        """Its rate in bit/s, run for long and stored; an interrupted run of the bench may have it.

        Raises Trouble if it does not end.
        """
        key = key_of(transport, setting)
        repeat = self._counts[key]
        self._counts[key] += 1
        known_bps = self._results.long_run_bps(self._case.key, key, repeat)
        if known_bps is not None:
            return known_bps
        # The sender of UDT keeps a core busy.
        weight = self._path.weight if transport == "tcp" else 1
        with _measuring(self._lab, self._capacity, weight):
            bps = self._bps(transport, setting)
        self._results.add(Truth(case=self._case.key, key=key, repeat=repeat, bps=bps))
        say(f"    ({self._case.key}) {key}: {bps / 1e6:.0f} Mbit/s")
        return bps

    def _bps(self, transport: str, setting: Setting) -> float:
        start_s, counted_s = self._path.long_run_s
        if transport == "tcp":
            return self._lab.iperf3(
                str(setting["congestion"]),
                math.ceil(start_s),
                math.ceil(counted_s),
                streams=int(setting["streams"]),
                window_bytes=int(setting["buffer_bytes"]),
            )
        # No program of iperf3's kind speaks the others: advisor's own prober, for as long.
        with instrument(self._lab, self._case) as meter:
            return meter.bps(transport, setting, start_s, counted_s)
