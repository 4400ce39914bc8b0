"""The cost of checksums: transfers with and without them, on loopback and on emulated paths.

    python -m tests.benchmarks.checksums [--runs N] [--page FILE]

Files in memory are moved by `advisor transfer` at a fixed setting. Needs root, for the emulated
paths, and an idle machine.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
from scipy import stats

from advisor.domain.proof import Algorithm
from advisor.hosts.checksums import Reading
from advisor.hosts.digests import digest_of
from advisor.lab.state import LabFolder
from advisor.testing.gridftp import anonymous_server
from tests.benchmarks.markdown import filled, percent, table_text

_ADVISOR: Final = [sys.executable, "-P", "-m", "advisor"]
_MEMORY: Final = "/dev/shm"
_LAB: Final = "checksum-bench"
_RATE: Final = "1Gbit"
_HASHED_BYTES: Final = 256 * 2**20
_CONFIDENCE: Final = 0.9


class MeasuredPath(msgspec.Struct, frozen=True):
    """A path to measure: `rtt` None for loopback. `files` of `file_bytes` each."""

    name: str
    rtt: str | None
    files: int
    file_bytes: int


_PATHS: Final = (
    MeasuredPath("loopback", None, 32, 64 * 2**20),
    MeasuredPath(f"emulated, {_RATE}/s, 0.4 ms", "0.4ms", 32, 16 * 2**20),
    MeasuredPath(f"emulated, {_RATE}/s, 45.6 ms", "45.6ms", 32, 16 * 2**20),
)


@contextlib.contextmanager
def _destination(path: MeasuredPath) -> Iterator[tuple[list[str], Path]]:
    """DESTINATION with its options, and the folder that files go to."""
    if path.rtt is None:
        with _loopback() as found:
            yield found
        return
    up = ["lab", "up", _LAB, "--rtt", path.rtt, "--rate", _RATE, "--mtu", "9000"]
    subprocess.run([*_ADVISOR, *up], check=True, stdout=subprocess.DEVNULL)
    try:
        yield [f"lab:{_LAB}"], LabFolder(_LAB).files("far")
    finally:
        subprocess.run([*_ADVISOR, "lab", "down", _LAB], check=True, stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def _loopback() -> Iterator[tuple[list[str], Path]]:
    loop = asyncio.new_event_loop()
    server = anonymous_server(own_account=True)
    try:
        offered = loop.run_until_complete(server.__aenter__())
        reached = ["localhost", "--server", offered.url, "--bandwidth", "10Gbit", "--rtt", "1ms"]
        yield reached, offered.folder
    finally:
        loop.run_until_complete(server.__aexit__(None, None, None))
        loop.close()


def _moved(source: Path, reached: list[str], target: Path, *words: str) -> float:
    """Seconds of one transfer."""
    fixed = ["--method", "fixed", "--start", "4x2", "--epoch", "5s", "--json", "--overwrite"]
    line = ["transfer", str(source), *reached, "--to", str(target), *fixed, *words]
    with tempfile.TemporaryDirectory(dir=_MEMORY) as home:
        ran = subprocess.run(
            [*_ADVISOR, *line],
            env={**os.environ, "HOME": home, "XDG_DATA_HOME": home, "XDG_STATE_HOME": home},
            stdout=subprocess.PIPE,
            check=True,
        )
    end = json.loads(ran.stdout.splitlines()[-1])
    return float(end["elapsed_s"])


def _hash_rates(runs: int) -> dict[Algorithm, float]:
    """The rate of one core in bytes per second, the median of the runs."""
    rates = {}
    with tempfile.TemporaryFile(dir=_MEMORY) as file:
        file.write(os.urandom(_HASHED_BYTES))
        for algorithm in Algorithm:
            took_s = []
            for _ in range(runs):
                began_s = time.perf_counter()
                digest_of(file, 0, _HASHED_BYTES, algorithm, Reading())
                took_s.append(time.perf_counter() - began_s)
            rates[algorithm] = _HASHED_BYTES / statistics.median(took_s)
    return rates


def _row(path: MeasuredPath, runs: int) -> tuple[str, ...]:
    pairs = []
    with (
        tempfile.TemporaryDirectory(dir=_MEMORY) as folder,
        _destination(path) as (reached, offered),
    ):
        source = Path(folder, "data")
        source.mkdir()
        for number in range(path.files):
            (source / str(number)).write_bytes(os.urandom(path.file_bytes))
        target = offered / "arrived"
        for number in range(runs + 1):
            order = [(), ("--no-checksum",)]
            found = {}
            for words in order if number % 2 else reversed(order):
                found[words] = _moved(source, reached, target, *words)
            if number:  # The first pair warms up the caches.
                pairs.append((found[()], found["--no-checksum",]))
    ratios = [with_s / without_s - 1 for with_s, without_s in pairs]
    centre, spread = statistics.mean(ratios), stats.sem(ratios)
    low, high = stats.t.interval(_CONFIDENCE, len(ratios) - 1, centre, spread)
    bits = path.files * path.file_bytes * 8
    rates = [bits / statistics.mean(column) / 1e9 for column in zip(*pairs, strict=True)]
    return (
        path.name,
        f"{path.files} × {path.file_bytes // 2**20} MiB",
        f"{rates[1]:.2f}",
        f"{rates[0]:.2f}",
        percent(centre),
        f"{percent(low)} to {percent(high)}",
    )


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=8, help="pairs on each path [8]")
    parser.add_argument("--page", type=Path, help="write the page to this file")
    options = parser.parse_args()
    tempfile.tempdir = _MEMORY  # The server's folder too.
    hashes = _hash_rates(options.runs)
    rows = [_row(path, options.runs) for path in _PATHS]
    head = ("path", "files", "Gbit/s without", "Gbit/s with", "longer by", "90 % interval")
    text = "\n".join(
        [
            "# What checksums cost a transfer",
            "",
            filled(
                "Written by `python -m tests.benchmarks.checksums` on a machine with "
                f"{os.cpu_count()} cores, which are source, destination and emulated path at the "
                f"same time. Each path: {options.runs} pairs of transfers, one with the default "
                "(BLAKE3 of each piece at both ends while the transfer runs) and one with "
                "`--no-checksum`, in alternating order, at 4 files at the same time with 2 "
                "streams each, files in memory. Interval: Student's t over the pairs."
            ),
            "",
            table_text(head, rows),
            "",
            filled(
                f"The hashes on one core, median of {options.runs} runs over 256 MiB in memory, "
                "reading included: "
                + ", ".join(f"{one} {rate / 1e9:.2f} GB/s" for one, rate in hashes.items())
                + "."
            ),
            "",
        ]
    )
    print(text)
    if options.page:
        options.page.write_text(text)


if __name__ == "__main__":
    main()
