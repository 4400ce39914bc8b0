"""`advisor lab`: each of seven RTTs at two rates brought up in turn, timed and checked.

Prints a table: the configured and measured values, and the time from the start of
`advisor lab up` to the first reply across the path. A check that does not pass
is repeated up to --tries times, and the number of tries is shown:

    python tests/benchmarks/lab_paths.py
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from advisor.lab.enter import command_on
from advisor.lab.state import state_of

RTTS_MS = (0.4, 11.6, 22.6, 45.6, 93.6, 183, 366)
RATES = (("1Gbit", 9000), ("500Mbit", 1500))
ADVISOR = [sys.executable, "-P", "-m", "advisor", "lab"]
HEAD = (
    *("RTT asked", "measured", "rate asked", "there", "back"),
    *("lost there", "lost back", "verdict", "checks", "first packet"),
)


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*ADVISOR, *words], capture_output=True, text=True, check=False)


def first_packet_s(name: str, rtt_ms: float, rate: str, mtu: int) -> float:
    began_s = time.monotonic()
    done = run("up", name, "--rtt", f"{rtt_ms}ms", "--rate", rate, "--mtu", str(mtu))
    if done.returncode:
        raise SystemExit(done.stderr)
    state = state_of(name)
    echo = [sys.executable, "-P", "-m", "advisor.lab.flood", "echo", state.far().address]
    # Its standard input stays open: it leaves when that ends.
    with subprocess.Popen(
        command_on(state, state.source, [*echo, "1", "0.1", "5"]),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as program:
        assert program.stdout is not None
        answered = json.loads(program.stdout.readline())["samples_s"]
        took_s = time.monotonic() - began_s
    if not answered:
        raise SystemExit(f"nothing was answered across {rtt_ms} ms at {rate}")
    return took_s


def checked(name: str, tries: int) -> tuple[dict[str, Any], int]:
    number = 0
    while True:
        number += 1
        done = run("check", name, "--json")
        if not done.stdout:
            raise SystemExit(done.stderr)
        found: dict[str, Any] = json.loads(done.stdout)
        if found["verdict"] == "within" or number == tries:
            return found, number


def row(name: str, rtt_ms: float, rate: str, mtu: int, tries: int) -> list[str]:
    try:
        took_s = first_packet_s(name, rtt_ms, rate, mtu)
        found, number = checked(name, tries)
    finally:
        run("down", name)
    ways = (found["forward"], found["reverse"])
    return [
        f"{rtt_ms:g} ms",
        f"{1000 * (found['rtt']['measured_s'] or 0):.2f} ms",
        f"{rate}, MTU {mtu}",
        *(f"{way['rate']['measured_bps'] / 1e6:.1f} Mbit/s" for way in ways),
        *(f"{way['loss']['lost']} of {way['loss']['sent']}" for way in ways),
        found["verdict"] + (f": {found['why']}" if found["why"] else ""),
        str(number),
        f"{took_s:.2f} s",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rtt", type=float, nargs="*", default=RTTS_MS, metavar="MS")
    parser.add_argument("--tries", type=int, default=3)
    options = parser.parse_args()
    # Labs of our own folder: none of the user's is in the way.
    with tempfile.TemporaryDirectory(prefix="labs") as folder:
        os.environ["ADVISOR_RUNTIME_DIR"] = str(Path(folder, "advisor"))
        print("| " + " | ".join(HEAD) + " |")
        print("|" + "---|" * len(HEAD))
        for rate, mtu in RATES:
            for rtt_ms in options.rtt:
                cells = row(f"bench{os.getpid()}", rtt_ms, rate, mtu, options.tries)
                print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
