"""Which settings are run for long on a path, and in which order. Pure."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Final

from tests.benchmarks.truth.paths import TruthPath
from tests.benchmarks.truth.summary import DIFFERENT, FULL
from tests.benchmarks.wan.cases import KERNELS_OWN, MIB, UDT_DEFAULT, Case
from tests.benchmarks.wan.hosts import Trouble
from tests.benchmarks.wan.results import Setting, key_of

Chosen = tuple[str, Setting]
"""A transport and its setting."""

_SWEPT: Final = (
    *((1, KERNELS_OWN), (1, 4 * MIB), (2, KERNELS_OWN), (4, KERNELS_OWN), (4, 4 * MIB)),
    *((8, KERNELS_OWN), (16, KERNELS_OWN), (16, 4 * MIB), (25, KERNELS_OWN)),
)
"""Streams and buffers of the small sweep."""


def run_sweep(
    path: TruthPath, advised: Sequence[Chosen], run: Callable[[str, Setting], float]
) -> list[str]:
    """Run the sweep, the default, and the advised settings twice; the sweep's keys.

    In random order where others use the path, so their load affects all alike. Where nobody does,
    with the fewest streams first, and the sweep ends at a setting that fills the path: no other
    could be better by more than what is missing. UDT runs where TCP leaves it room. Where the
    sweep's best is ahead of an advised setting it is repeated too: the best of single runs is one
    that was lucky. A setting with which iperf3 fails or does not end is left out, unless it is the
    default or advised. `run`: the rate in bit/s; raises Trouble.
    """
    wanted = {default_key(path.case), *(key_of(*each) for each in advised)}
    swept: dict[str, tuple[float, Chosen]] = {}
    # The default is one of these.
    for setting in _settings(path):
        key = key_of("tcp", setting)
        try:
            bps = run("tcp", setting)
        except Trouble:
            if key in wanted:
                raise
            continue
        swept[key] = bps, ("tcp", setting)
        if bps >= FULL * path.full_bps and not path.case.load_streams:
            break
    best_bps, best = max(swept.values(), key=lambda each: each[0])
    again = {key_of(*each): each for each in advised}
    reached_bps = {
        key: swept[key][0] if key in swept else run(*each) for key, each in again.items()
    }
    if best_bps < path.full_bps / (1 + DIFFERENT):
        run("udt", _large_udt(path))
    if any(bps < best_bps for bps in reached_bps.values()):
        again[key_of(*best)] = best
    for key in random.Random(path.case.key).sample(sorted(again), len(again)):
        run(*again[key])
    return list(swept)


def default_key(case: Case) -> str:
    """The key of the default: one stream with the kernel's buffers."""
    return key_of("tcp", _default(case))


def _default(case: Case) -> Setting:
    return _tcp(case, 1, KERNELS_OWN)


def _settings(path: TruthPath) -> list[Setting]:
    settings = [_tcp(path.case, *cell) for cell in _SWEPT]
    if path.case.load_streams:
        random.Random(path.case.key).shuffle(settings)
    return settings


def _tcp(case: Case, streams: int, buffer_bytes: int) -> Setting:
    return {"streams": streams, "buffer_bytes": buffer_bytes, "congestion": case.control}


def _large_udt(path: TruthPath) -> Setting:
    """UDT with packets that fit the path and a window that it cannot fill."""
    twice_in_flight = 2 * path.rate_bps * path.case.rtt_s / 8
    window_bytes = max(int(UDT_DEFAULT["buffer_bytes"]), math.ceil(twice_in_flight))
    return UDT_DEFAULT | {"mss_bytes": path.mtu, "buffer_bytes": window_bytes}
