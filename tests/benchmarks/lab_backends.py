"""Compares the same path emulated by the kernel's netem and by advisor's own emulator.

Needs a kernel with netem, and iperf3. Options that follow `--` go to `advisor lab up`:

    python tests/benchmarks/lab_backends.py -- --rate 50Mbit --rtt 40ms --loss 1%
"""

import argparse
import json
import subprocess
import sys
import time
from typing import Any

ADVISOR = [sys.executable, "-P", "-m", "advisor"]
# The loss is counted over a UDP flow well below the rate, so that no queue is full.
UDP_SHARE = 0.3
PING = """
import socket, statistics, struct, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
s.settimeout(1)
s.connect((socket.gethostbyname("far"), 0))
times = []
for i in range(int(sys.argv[1])):
    began = time.monotonic()
    s.send(struct.pack("!BBHHH", 8, 0, 0, 0, i) + bytes(int(sys.argv[2])))
    try:
        while struct.unpack("!H", s.recv(70000)[6:8])[0] != i:
            pass
        times.append(time.monotonic() - began)
    except TimeoutError:
        pass
    time.sleep(0.02)
print(statistics.median(times))
"""


def advisor(*words: str) -> str:
    done = subprocess.run([*ADVISOR, "lab", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"advisor lab {' '.join(words)}: {done.stderr or done.stdout}")
    return done.stdout


def inside(name: str, *words: str) -> str:
    return advisor("exec", name, "--", *words)


def iperf3(name: str, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(inside(name, "iperf3", "-c", "far", "-J", *words))["end"]
    return found


def path_of(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(advisor("status", name, "--json"))["hosts"][0]
    return found


def figures(name: str, seconds: int, pings: int) -> dict[str, float]:
    """What a lab that is up does, by what it is called."""
    found = {
        "RTT, 64 bytes, ms": float(inside(name, sys.executable, "-c", PING, str(pings), "36")) * 1e3
    }
    large = str(path_of(name)["path"]["mtu_bytes"] - 28)
    found["RTT, MTU, ms"] = float(inside(name, sys.executable, "-c", PING, str(pings), large)) * 1e3
    advisor("exec", name, "--host", "far", "--", "iperf3", "-s", "-D")
    time.sleep(0.5)
    for label, options in (("TCP there", ()), ("TCP back", ("-R",))):
        end = iperf3(name, "-t", str(seconds), "-O", "2", *options)
        found[f"{label}, Mbit/s"] = end["sum_received"]["bits_per_second"] / 1e6
    before = path_of(name)
    rate_bps = round(before["path"]["forward"]["rate_bps"] * UDP_SHARE)
    length = before["path"]["mtu_bytes"] - 28
    iperf3(name, "-u", "-b", str(rate_bps), "-l", str(length), "-t", str(seconds))
    after = path_of(name)
    gone = {key: after["forward"][key] - before["forward"][key] for key in ("packets", "lost")}
    found["loss, %"] = 100 * gone["lost"] / max(1, sum(gone.values()))
    found["bytes/packet"] = after["forward"]["bytes"] / max(1, after["forward"]["packets"])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=10, help="of each iperf3 run")
    parser.add_argument("--pings", type=int, default=50)
    parser.add_argument("up", nargs="*", help="options of 'advisor lab up'")
    options = parser.parse_args()
    seen = {}
    for backend in ("netem", "own"):
        name = f"bench-{backend}"
        advisor("up", name, "--backend", backend, *options.up)
        try:
            seen[backend] = figures(name, options.seconds, options.pings)
        finally:
            advisor("down", name)
    print(f"{'':20}{'netem':>12}{'own':>12}{'own/netem':>12}")
    for label, value in seen["netem"].items():
        other = seen["own"][label]
        ratio = f"{other / value:.3f}" if value else "-"
        print(f"{label:20}{value:12.3f}{other:12.3f}{ratio:>12}")


if __name__ == "__main__":
    main()
