"""What tests of moved files share: the files, and transfers of the past."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from advisor.domain.endpoints import Endpoint, Pair
from advisor.domain.measurement import Interval, Measurement
from advisor.domain.records import ProbeRecord
from advisor.runtime.connect import pair_of
from advisor.runtime.request import AdviceRequest
from advisor.store.history import Store
from tests.benchmarks.disk.files import difference

from .program import Run

Groups: TypeAlias = Mapping[str, tuple[int, int]]
"""How many files there are in a folder of this name, and the size of each in bytes."""


def make_files(folder: Path, groups: Groups) -> Path:
    """The folder, with these files of random bytes in it."""
    for name, (count, size) in groups.items():
        (folder / name).mkdir(parents=True)
        for number in range(count):
            (folder / name / f"{number}.dat").write_bytes(os.urandom(size))
    return folder


def assert_the_line_copies(run: Run, tool: str, source: Path, target: Path) -> list[dict[str, Any]]:
    """A session that profiles a tool measures, leaves nothing, and its line copies the files.

    The results of its probes.
    """
    done = run.finish()
    assert done.returncode == 0, done.stderr
    ended = [event for event in run.events if event["event"] == "probe_ended"]
    results = [event["result"] for event in ended if event["transport"] == tool]
    assert results
    assert not [one for one in results if one["outcome"] != "measured"]
    assert not target.exists(), "what the probes moved is taken away again"
    assert not list(target.parent.glob(".advisor*"))
    advice = run.events[-1]
    assert advice["event"] == "advice"
    [command] = advice["commands"]
    assert subprocess.run(command["shell"], shell=True, check=False).returncode == 0
    assert not difference(source, target)
    return results


def pair_here() -> Pair:
    """From this host to itself."""
    return pair_of(AdviceRequest(destination=Endpoint("localhost")))


def keep_sweep(
    store: Store, rates_bps: Mapping[tuple[int, int], float], *, file_bytes: int, files: int
) -> None:
    """Past transfers of this many files of a size, on a path of 1 Gbit/s and 20 ms.

    `rates_bps`: by files at a time and streams for each.
    """
    for number, ((concurrency, parallelism), bps) in enumerate(rates_bps.items()):
        store.append(
            ProbeRecord(
                pair=pair_here(),
                subject="globus-url-copy",
                setting={"concurrency": concurrency, "parallelism": parallelism},
                result=Measurement(
                    throughput_bps=bps,
                    stderr_bps=0.0,
                    intervals=[Interval(0.0, 1.0, int(bps / 8))],
                    steady_from=0,
                    settled=True,
                    elapsed_s=1.0,
                ),
                recorded_s=1.7e9 + number,
                rtt_s=0.02,
                bandwidth_bps=1e9,
                file_bytes=file_bytes,
                files=files,
            )
        )


def damage(file: Path) -> None:
    """Change a byte of it."""
    content = bytearray(file.read_bytes())
    content[7] ^= 0xFF
    file.write_bytes(content)
