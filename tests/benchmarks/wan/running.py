"""Runs everything in order, except what is already in the results."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import ceil
from pathlib import Path

from tests.benchmarks.wan.cases import (
    BEST_OF_SWEEP,
    UDT_DEFAULT,
    WORTH_REPEATING,
    Case,
    Plan,
)
from tests.benchmarks.wan.hosts import Lab
from tests.benchmarks.wan.measuring import Instrument, instrument
from tests.benchmarks.wan.methods import METHODS
from tests.benchmarks.wan.results import (
    IPERF3,
    Again,
    Late,
    Results,
    Run,
    Setting,
    Swept,
    Timed,
    cell_means,
    complete_rounds,
    key_of,
)


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def run_case(
    folder: Path, case: Case, plan: Plan, results: Results, methods: Sequence[str]
) -> None:
    """The sweep, these methods with every seed, and all settings found measured again."""
    say(f"({case.key}) {case.title}")
    with _timed(case, "sweep", results):
        _sweep(folder, case, plan, results)
    for seed in range(1, plan.seeds + 1):
        _run_methods(folder, case, plan, results, methods, seed)
    with _timed(case, "again", results):
        _measure_again(folder, case, plan, results)


@contextmanager
def _timed(case: Case, part: str, results: Results) -> Iterator[None]:
    began_s, before = time.monotonic(), len(results.lines)
    yield
    if len(results.lines) > before:
        seconds = time.monotonic() - began_s
        results.add(Timed(case=case.key, part=part, seconds=seconds))


def _setting(case: Case, streams: int, buffer_bytes: int) -> Setting:
    return {"streams": streams, "buffer_bytes": buffer_bytes, "congestion": case.control}


@contextmanager
def _lab(folder: Path, case: Case, seed: int, part: str, results: Results) -> Iterator[Lab]:
    """A lab, and at its end a line that says whether the machine kept up."""
    with Lab(folder, case, seed) as lab:
        yield lab
        if late := lab.late():
            results.add(Late(case=case.key, part=part, p99_s=late[0], most_s=late[1]))


@contextmanager
def _ready(
    folder: Path, case: Case, seed: int, part: str, results: Results
) -> Iterator[tuple[Lab, Instrument]]:
    """A lab under its load, if it has one, and the instrument."""
    with _lab(folder, case, seed, part, results) as lab:
        lab.load(True)
        with instrument(lab, case) as meter:
            yield lab, meter


def _left_to_sweep(case: Case, plan: Plan, results: Results, repeat: int) -> list[tuple[int, int]]:
    swept = results.all(Swept, case.key)
    done = {(s.streams, s.buffer_bytes) for s in swept if s.repeat == repeat}
    wanted = plan.grid(case)
    if repeat:
        first = cell_means(s for s in swept if s.repeat == 0)
        ranked = sorted(wanted, key=lambda cell: -first[cell])
        wanted = ranked[: ceil(WORTH_REPEATING * len(ranked))]
    left = [cell for cell in wanted if cell not in done]
    random.Random(f"{case.key}{repeat}").shuffle(left)
    return left


def _sweep(folder: Path, case: Case, plan: Plan, results: Results) -> None:
    for repeat in range(plan.repeats):
        left = _left_to_sweep(case, plan, results, repeat)
        if not left:
            continue
        with _ready(folder, case, 1000 + repeat, "sweep", results) as (_, meter):
            for streams, buffer_bytes in left:
                began_s = time.monotonic()
                bps = meter.bps(
                    "tcp", _setting(case, streams, buffer_bytes), case.start_s, plan.sweep_s
                )
                line = Swept(
                    case=case.key,
                    repeat=repeat,
                    streams=streams,
                    buffer_bytes=buffer_bytes,
                    bps=bps,
                    seconds=time.monotonic() - began_s,
                )
                results.add(line)
                say(f"  sweep {streams:3} × {buffer_bytes:8}: {bps / 1e6:6.0f} Mbit/s")


def _run_methods(
    folder: Path, case: Case, plan: Plan, results: Results, methods: Sequence[str], seed: int
) -> None:
    """Which method comes first changes from seed to seed. Each has a fresh lab."""
    done = {r.method for r in results.all(Run, case.key) if r.seed == seed}
    for method in sorted(set(methods) - done, reverse=bool(seed % 2)):
        with _lab(folder, case, seed, method, results) as lab:
            run = METHODS[method](lab, case, plan, seed)
        results.add(run)
        say(
            f"  {method} {seed}: {run.transport} {run.setting}, {run.claimed_bps / 1e6:.0f} "
            f"Mbit/s, {run.probes} probes, {run.seconds:.0f} s; {run.ended}"
        )


def references(case: Case, results: Results) -> dict[str, Setting]:
    """The sweep's best by key, best first."""
    means = cell_means(results.all(Swept, case.key))
    ranked = sorted(means, key=lambda cell: -means[cell])[:BEST_OF_SWEEP]
    settings = [_setting(case, *cell) for cell in ranked]
    return {key_of("tcp", setting): setting for setting in settings}


def default_key(case: Case) -> str:
    """One stream, the kernel's buffers."""
    return key_of("tcp", _setting(case, 1, 0))


def wanted_again(case: Case, results: Results) -> dict[str, tuple[str, Setting]]:
    """Transport and setting of all that is to be measured again, by key; IPERF3 has neither."""
    wanted = {key: ("tcp", setting) for key, setting in references(case, results).items()}
    wanted[default_key(case)] = ("tcp", _setting(case, 1, 0))
    wanted[key_of("udt", UDT_DEFAULT)] = ("udt", dict(UDT_DEFAULT))
    wanted[IPERF3] = ("", {})
    for run in results.all(Run, case.key):
        if run.setting is not None:
            wanted[key_of(run.transport, run.setting)] = (run.transport, run.setting)
    return wanted


def _measure_again(folder: Path, case: Case, plan: Plan, results: Results) -> None:
    """In rounds, each in a random order, so that other load affects all alike."""
    wanted = wanted_again(case, results)
    again = results.all(Again, case.key)
    missing = plan.rounds - len(complete_rounds(again, set(wanted)))
    begun = max((one.round for one in again), default=-1) + 1
    for number in range(begun, begun + missing):
        order = list(wanted)
        random.Random(f"{case.key}{number}").shuffle(order)
        with _ready(folder, case, 2000 + number, "again", results) as (lab, meter):
            for key in order:
                transport, setting = wanted[key]
                if key == IPERF3:
                    bps = lab.iperf3(case.control, ceil(case.long_start_s), ceil(plan.again_s))
                else:
                    bps = meter.bps(transport, setting, case.long_start_s, plan.again_s)
                results.add(Again(case=case.key, round=number, key=key, bps=bps))
                say(f"  again {key}: {bps / 1e6:.0f} Mbit/s")
