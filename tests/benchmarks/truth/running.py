"""Runs one path: sessions, then the advised lines, the default and a small sweep, by a shell."""

from __future__ import annotations

import contextlib
import fcntl
import math
import random
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from tests.benchmarks.truth.results import Advised, Done, Results, Truth
from tests.benchmarks.wan.cases import KERNELS_OWN, Case
from tests.benchmarks.wan.hosts import Lab
from tests.benchmarks.wan.measuring import instrument
from tests.benchmarks.wan.results import Late, Setting, key_of
from tests.benchmarks.wan.running import say

THIS: Final = "this"
REPEATS: Final = 2
_SWEPT: Final = (
    *((n, KERNELS_OWN) for n in (1, 2, 4, 8, 16, 25)),
    *((n, 4 * 2**20) for n in (1, 4, 16)),
)
"""Streams and buffers of the small sweep."""

_SESSION_AT_MOST_S: Final = 600.0


@contextlib.contextmanager
def machine_of_our_own(lock: Path | None) -> Iterator[None]:
    """Hold a lock that the benchmarks of this machine share, if there is one."""
    if lock is None:
        yield
        return
    with lock.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def run_path(
    folder: Path, case: Case, versions: Mapping[str, Path | None], results: Results
) -> None:
    """All of a path in one go, unless it is done. `versions`: checkouts by name."""
    if results.all(Done, case.key):
        return
    say(f"({case.key}) {case.title}")
    with Lab(folder, case, seed=1) as lab:
        lab.load(True)
        advised = [
            _session(lab, case, name, checkout, results) for name, checkout in versions.items()
        ]
        _truths(lab, case, advised, results)
        if late := lab.late():
            results.add(Late(case=case.key, part="all", p99_s=late[0], most_s=late[1]))


def _session(
    lab: Lab, case: Case, version: str, checkout: Path | None, results: Results
) -> Advised:
    known = [a for a in results.all(Advised, case.key) if a.version == version]
    if known:
        return known[-1]
    before, began_s = lab.sent_bytes(), time.monotonic()
    with tempfile.TemporaryDirectory() as store:
        events, _ = lab.advisor(
            *("advise", lab.endpoint, "--seed", "1", "--measure", "--store", store),
            timeout_s=_SESSION_AT_MOST_S,
            checkout=checkout,
        )
    seconds = time.monotonic() - began_s
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
        sent_bytes=lab.sent_bytes() - before,
        ended=[e["reason"] for e in events if e["event"] == "stage_ended"],
    )
    results.add(line)
    say(
        f"  {version}: {line.transport} {line.setting}, {line.expected_bps / 1e6:.0f} Mbit/s, "
        f"{line.probes} probes, {seconds:.0f} s, {line.sent_bytes / 1e9:.2f} GB"
    )
    return line


def _flat(gain: Any) -> tuple[float, float, float] | None:
    return (gain[0], *gain[1]) if gain else None


def _truths(lab: Lab, case: Case, advised: list[Advised], results: Results) -> None:
    """Every setting once, those that are compared `REPEATS` times, in random order.

    So other load affects all alike. The sweep's best is repeated too: the best of single runs is
    one that was lucky.
    """
    swept = {key_of("tcp", s): s for s in (_tcp(case, *cell) for cell in _SWEPT)}
    wanted: dict[str, tuple[str, Setting]] = {key: ("tcp", s) for key, s in swept.items()}
    for one in advised:
        if one.setting is not None:
            wanted[key_of(one.transport, one.setting)] = (one.transport, one.setting)
    always = {key_of(a.transport, a.setting or {}) for a in advised} | {_default(case)}
    reached_bps: dict[str, float] = {}
    for repeat in range(REPEATS):
        if repeat:
            always.add(max(swept, key=lambda key: reached_bps[key]))
        keys = [key for key in wanted if repeat == 0 or key in always]
        random.Random(f"{case.key}{repeat}").shuffle(keys)
        for key in keys:
            bps = _long_run_bps(lab, case, *wanted[key])
            reached_bps[key] = bps
            results.add(Truth(case=case.key, key=key, repeat=repeat, bps=bps))
            say(f"    {key}: {bps / 1e6:.0f} Mbit/s")
    results.add(Done(case=case.key, default=_default(case), swept=list(swept)))


def _tcp(case: Case, streams: int, buffer_bytes: int) -> Setting:
    return {"streams": streams, "buffer_bytes": buffer_bytes, "congestion": case.control}


def _default(case: Case) -> str:
    return key_of("tcp", _tcp(case, 1, KERNELS_OWN))


def _long_run_bps(lab: Lab, case: Case, transport: str, setting: Setting) -> float:
    counted_s = max(5.0, 16 * case.rtt_s)
    if transport == "tcp":
        return lab.iperf3(
            str(setting["congestion"]),
            math.ceil(case.long_start_s),
            math.ceil(counted_s),
            streams=int(setting["streams"]),
            window_bytes=int(setting["buffer_bytes"]),
        )
    # No program of iperf3's kind speaks the others: advisor's own prober, for as long.
    with instrument(lab, case) as meter:
        return meter.bps(transport, setting, case.long_start_s, counted_s)
