"""How the throughput of TCP scales with the number of processes that its streams are spread over.

Needs root for the veth pair. Probes of the same streams in one process and in several take turns,
on loopback and between two network namespaces, and a table in Markdown is printed:

    python -m tests.benchmarks.processes --rounds 5
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from advisor.advising.prober import Watcher
from advisor.advising.transport_prober import Prober
from advisor.domain.endpoints import Endpoint
from advisor.domain.measurement import Measurement
from advisor.domain.space import Setting
from advisor.models.steadiness import probe_length
from advisor.runtime.connect import look_at_path, reach
from advisor.runtime.request import AdviceRequest
from tests.benchmarks.markdown import table_text
from tests.benchmarks.two_hosts import agent, two_hosts

STREAMS = 4


async def measure(request: AdviceRequest, processes: Sequence[int], rounds: int) -> None:
    """Print one line of JSON for each probe."""
    reached = await reach(request)
    path = await look_at_path(reached, request)
    prober = Prober(path)
    watcher = Watcher(lambda _: None, lambda _: None)
    try:
        for number in range(rounds):
            # Each comes first equally often.
            for count in processes if number % 2 else processes[::-1]:
                setting: Setting = {"streams": STREAMS, "buffer_bytes": 0}
                setting |= {"processes": count} if count > 1 else {}
                length = probe_length(path.rtt_s)
                probed = await prober.measure(reached.link, "tcp", setting, length, watcher)
                if not isinstance(probed.outcome, Measurement):
                    raise SystemExit(probed.outcome.message)
                print(json.dumps(_line(count, probed.outcome)), flush=True)
    finally:
        await prober.close()
        await reached.link.close()


def _line(processes: int, one: Measurement) -> dict[str, float]:
    assert one.sender is not None
    assert one.receiver is not None
    return {
        "processes": processes,
        "gbps": one.throughput_bps / 1e9,
        "sender_thread": float(one.sender.thread_cores or 0),
        "receiver_thread": float(one.receiver.thread_cores or 0),
        "host": one.receiver.host_share,
    }


def rows(path: str, lines: Sequence[dict[str, float]]) -> Iterator[list[str]]:
    """A row of the table for each number of processes."""
    for count in sorted({line["processes"] for line in lines}):
        own = [line for line in lines if line["processes"] == count]
        rates = sorted(line["gbps"] for line in own)
        shares = (
            f"{statistics.median(line[name] for line in own):.0%}"
            for name in ("sender_thread", "receiver_thread", "host")
        )
        spread = f"{rates[0]:.1f} to {rates[-1]:.1f}"
        yield [path, f"{count:.0f}", f"{statistics.median(rates):.1f}", spread, *shares]


def _run(prefix: Sequence[str], options: Sequence[str]) -> list[dict[str, float]]:
    command = [*prefix, sys.executable, "-m", "tests.benchmarks.processes", "--inside", *options]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--agent", default="", help=argparse.SUPPRESS)
    parser.add_argument("--secret-file", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        host, _, port = options.agent.partition(":")
        request = AdviceRequest(
            destination=Endpoint(host or "localhost"),
            agent=(host, int(port)) if port else None,
            secret_file=options.secret_file,
        )
        asyncio.run(measure(request, options.processes, options.rounds))
        return
    counts = ["--processes", *map(str, options.processes), "--rounds", str(options.rounds)]
    table = list(rows("loopback", _run([], counts)))
    with (
        tempfile.TemporaryDirectory() as folder,
        two_hosts(None) as (source, destination),
        agent(destination, Path(folder)) as reached,
    ):
        table += rows("veth pair", _run(source, [*counts, *reached]))
    head = ("path", "processes", "Gbit/s, median", "all", "sender's busiest thread")
    print(table_text([*head, "receiver's", "all cores, receiver's side"], table))


if __name__ == "__main__":
    main()
