"""Two network namespaces with 500 Mbit/s between them: what is advised, compared with a full sweep.

Needs root. Runs `advisor advise` from one to an agent in the other, then iperf3 at every
combination of streams and window, and compares the advised setting's own rate in the same sweep
with the best of it:

    python -m tests.benchmarks.two_hosts
"""

import argparse
import contextlib
import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.namespaces import Namespace

SOURCE, DESTINATION = "10.99.8.1", "10.99.8.2"
STREAMS = (1, 2, 4, 8, 16, 25)
WINDOWS = (0, 65536, 262144, 1048576, 4194304)


@contextlib.contextmanager
def two_hosts(rate: str | None) -> Iterator[tuple[list[str], list[str]]]:
    """What to put before commands on either host. `rate`: as tc has it, None for all they can."""
    with (
        contextlib.closing(Namespace()) as source,
        contextlib.closing(Namespace()) as destination,
    ):
        peer = ("peer", "name", "v0", "netns", destination.path)
        source.run("ip", "link", "add", "v0", "type", "veth", *peer)
        for side, address in ((source, SOURCE), (destination, DESTINATION)):
            side.run("ip", "addr", "add", f"{address}/24", "dev", "v0")
            side.run("ip", "link", "set", "v0", "up")
            shaped = ("tbf", "rate", rate or "", "burst", "256kb", "latency", "50ms")
            if rate:
                side.run("tc", "qdisc", "add", "dev", "v0", "root", *shaped)
        yield source.host, destination.host


@contextlib.contextmanager
def agent(prefix: list[str], folder: Path) -> Iterator[list[str]]:
    """The options that reach an agent run with `prefix`."""
    secret = folder / "secret"
    command = [sys.executable, "-m", "advisor", "agent", "--listen", f"{DESTINATION}:5199"]
    process = subprocess.Popen(
        [*prefix, *command, "--secret-file", str(secret)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    process.stderr.readline()
    try:
        yield ["--agent", f"{DESTINATION}:5199", "--secret-file", str(secret)]
    finally:
        process.terminate()
        process.wait()


def advise(prefix: list[str], options: list[str], folder: Path) -> tuple[dict[str, Any], float]:
    began_s = time.monotonic()
    command = [sys.executable, "-m", "advisor", "advise", *options, "--json"]
    done = subprocess.run(
        [*prefix, *command, "--store", str(folder / "store")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    took_s = time.monotonic() - began_s
    events = [json.loads(line) for line in done.stdout.splitlines()]
    inside_s = sum(e["result"]["elapsed_s"] for e in events if e["event"] == "probe_ended")
    probes = sum(e["event"] == "probe_ended" for e in events)
    print(
        f"advice after {took_s:.1f} s with {probes} probes; "
        f"outside probes {1 - inside_s / events[-1]['at_s']:.1%} of the session"
    )
    advice: dict[str, Any] = events[-1]
    return advice, took_s


def iperf3(at_source: list[str], at_destination: list[str], streams: int, window: int) -> float:
    """The receiver's rate over two seconds, in bit/s."""
    server = subprocess.Popen([*at_destination, "iperf3", "-s", "-1"], stdout=subprocess.DEVNULL)
    time.sleep(0.2)
    size = ["-w", str(window)] if window else []
    client = ["iperf3", "-c", DESTINATION, "-t", "2", "-O", "1", "-P", str(streams), *size, "-J"]
    done = subprocess.run([*at_source, *client], stdout=subprocess.PIPE, text=True, check=True)
    server.wait()
    rate: float = json.loads(done.stdout)["end"]["sum_received"]["bits_per_second"]
    return rate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", default="500mbit")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as name,
        two_hosts(options.rate) as (at_source, at_destination),
    ):
        folder = Path(name)
        with agent(at_destination, folder) as reach:
            advice, _ = advise(at_source, reach, folder)
        setting, transport = advice["setting"], advice["transport"]
        print(f"advised: {transport} {setting}, expected {advice['expected_bps'] / 1e6:.0f} Mbit/s")
        rates = {}
        for streams, window in itertools.product(STREAMS, WINDOWS):
            rates[streams, window] = iperf3(at_source, at_destination, streams, window)
        (streams, window), best = max(rates.items(), key=lambda item: item[1])
        print(
            f"best of {len(rates)} iperf3 cells: {best / 1e6:.1f} Mbit/s, -P {streams} -w {window}"
        )
        print(f"expected / best of the sweep: {advice['expected_bps'] / best:.1%}")
        if transport == "tcp":
            own = iperf3(
                at_source, at_destination, int(setting["streams"]), int(setting["buffer_bytes"])
            )
            print(f"the advised setting in iperf3: {own / 1e6:.1f} Mbit/s, {own / best:.1%}")


if __name__ == "__main__":
    main()
