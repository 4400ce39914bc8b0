"""Compares pyudt's loops with a C++ pair over the same libudt, on loopback.

    python tests/benchmarks/udt_loops/bench.py --seconds 3 --repeats 5

Each round runs C++ and pyudt one after the other, alternating which is first, as two processes
each, so that other load affects both; a round with much other load is repeated. The figure is the
rate at the receiver, without the first second. The processor time includes the start of the
programs, for which Python needs some tenths of a second more. Needs g++ and libudt-dev;
pyudt itself needs neither.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import itertools
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from advisor.hosts.compiled import shared_library

HERE = Path(__file__).resolve().parent
BINDING = HERE.parents[2] / "plugins" / "transports" / "udt" / "pyudt"
START_S = 1.0
START_LIMIT_S = 20.0
QUIET_CORES = 0.1


def pyudt() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "pyudt", BINDING / "__init__.py", submodule_search_locations=[str(BINDING)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["pyudt"] = module
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True, slots=True)
class Case:
    mss: int
    payloads: int
    udt_buffer: int
    udp_send: int
    udp_receive: int
    window: int
    seconds: float

    @property
    def block(self) -> int:
        return self.payloads * (self.mss - 44)

    def words(self) -> list[str]:
        numbers = (self.mss, self.block, self.udt_buffer, self.udp_send, self.udp_receive)
        return [*map(str, numbers), str(self.window), str(self.seconds)]


def play(role: str, words: list[str]) -> None:
    """What pair.cpp does, with pyudt; in a process of its own."""
    udt = pyudt()
    port, mss, block, udt_buffer, udp_send, udp_receive, window = map(int, words[:7])
    seconds = float(words[7])
    option = udt.Option
    counter = udt.Counter()
    with udt.Socket() as socket:
        socket.configure(
            {
                option.MSS: mss,
                option.FC: window,
                option.UDP_SNDBUF: udp_send,
                option.UDP_RCVBUF: udp_receive,
                option.SNDBUF: udt_buffer,
                option.RCVBUF: udt_buffer,
            }
        )
        if role == "receive":
            receive(udt, socket, block, seconds, counter)
        else:
            socket.connect(("127.0.0.1", port))
            until = time.monotonic() + seconds + 5
            repeat = shared_library(udt.REPEAT_SOURCE)
            udt.send_blocks(socket, bytes(block), counter, until=until, repeat=repeat)


def receive(udt: ModuleType, listener, block: int, seconds: float, counter) -> None:  # type: ignore[no-untyped-def]  # types of a module loaded by its path
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print("port", listener.local_address()[1], flush=True)
    socket, _ = listener.accept(20)
    loop = threading.Thread(target=udt.receive_blocks, args=(socket, block, counter))
    loop.start()
    while counter.bytes == 0:
        time.sleep(0.001)
    time.sleep(START_S)
    begun, before = time.monotonic(), counter.bytes
    # As the sampler of a probe does: it must not disturb.
    while time.monotonic() - begun < seconds:
        time.sleep(min(0.1, max(0.0, begun + seconds - time.monotonic())))
        now = counter.bytes
    took = time.monotonic() - begun
    print("rate", round(8 * (now - before) / took), now - before, flush=True)
    socket.close()
    loop.join()


@contextlib.contextmanager
def started(command: list[str], limit_s: float) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        # A reader of its output then meets the end of it.
        bound = threading.Timer(limit_s, process.kill)
        bound.start()
        try:
            yield process
        finally:
            bound.cancel()
            process.kill()


@dataclass(frozen=True, slots=True)
class Run:
    rate: float
    """Receiver's bit/s."""
    cpu: float
    """Processor seconds of both ends per transferred GB, starting and ending included."""
    others: float
    """Cores that other processes of this machine used meanwhile."""


def busy_s() -> float:
    """Processor seconds of all processes since the machine started."""
    user, nice, system = map(int, Path("/proc/stat").read_text().split(maxsplit=4)[1:4])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


def run(receiver: list[str], sender: list[str], case: Case) -> Run:
    limit = case.seconds + START_LIMIT_S
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun, busy = time.monotonic(), busy_s()
    with started([*receiver, "receive", "0", *case.words()], limit) as sink:
        assert sink.stdout is not None
        port = sink.stdout.readline().split()[1]
        with started([*sender, "send", port, *case.words()], limit) as source:
            word, rate, count = sink.stdout.readline().split()
            assert word == "rate"
            # Both are killed here: libudt would take a second to end each.
            source.kill()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    others = max(0.0, busy_s() - busy - cpu) / (time.monotonic() - begun)
    return Run(float(rate), cpu / (float(count) / 1e9), others)


def compare(case: Case, commands: dict[str, list[str]], repeats: int) -> dict[str, list[Run]]:
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    # A round in which another process had a part of the processors is made again, in bounds.
    for turn in range(3 * repeats):
        names = list(commands) if turn % 2 == 0 else list(reversed(commands))
        found = {name: run(commands[name], commands[name], case) for name in names}
        for name, one in found.items():
            print(
                f"    {name:6} {one.rate / 1e9:.2f} Gbit/s, others {one.others:.2f}",
                file=sys.stderr,
            )
        if all(one.others <= QUIET_CORES for one in found.values()):
            for name, one in found.items():
                runs[name].append(one)
            if len(runs[name]) == repeats:
                break
    return runs


def bench(arguments: argparse.Namespace) -> None:
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, loopback")
    print(
        f"{arguments.repeats} x {arguments.seconds:g} s each; UDT buffers {arguments.udt_buffer}, "
        f"UDP buffers {arguments.udp_send} / {arguments.udp_receive}, FC {arguments.window}"
    )
    print("  MSS  payloads   C++ Gbit/s (min-max)  pyudt Gbit/s (min-max)   ratio  CPU ratio")
    ratios: list[float] = []
    record: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        pair = Path(folder) / "pair"
        source = str(HERE / "pair.cpp")
        subprocess.run(
            ["g++", "-O2", "-o", str(pair), source, "-ludt", "-lpthread"], check=True, timeout=120
        )
        commands = {"C++": [str(pair)], "pyudt": [sys.executable, str(Path(__file__)), "--play"]}
        for mss, payloads in itertools.product(arguments.mss, arguments.block):
            case = Case(
                mss,
                payloads,
                arguments.udt_buffer,
                arguments.udp_send,
                arguments.udp_receive,
                arguments.window,
                arguments.seconds,
            )
            runs = compare(case, commands, arguments.repeats)
            if not runs["C++"]:
                print(f"{mss:5}  {payloads:8}   the machine was never quiet")
                continue
            rates = {name: [one.rate / 1e9 for one in found] for name, found in runs.items()}
            middle = {name: statistics.median(found) for name, found in rates.items()}
            cpu = {
                name: statistics.median(one.cpu for one in found) for name, found in runs.items()
            }
            ratios.append(middle["pyudt"] / middle["C++"])
            columns = "  ".join(
                f"{middle[name]:7.2f} ({min(rates[name]):.2f}-{max(rates[name]):.2f})    "
                for name in commands
            )
            share = cpu["pyudt"] / cpu["C++"]
            print(
                f"{mss:5}  {payloads:8}   {columns} {ratios[-1]:.3f}  {share:.3f}  "
                f"n={len(rates['C++'])}",
                flush=True,
            )
            record.append({"mss": mss, "payloads": payloads, **rates})
    if ratios:
        print(f"least ratio {min(ratios):.3f}, median {statistics.median(ratios):.3f}")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(record, indent=1) + "\n")


def main() -> None:
    if sys.argv[1:2] == ["--play"]:
        play(sys.argv[2], sys.argv[3:])
        return
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=3.0, help="steady part of a run")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--mss", type=int, nargs="+", default=[1500, 9000, 65535])
    parser.add_argument("--block", type=int, nargs="+", default=[1, 5, 25], help="payloads a call")
    parser.add_argument("--udt-buffer", type=int, default=64 << 20, help="bytes, both ends")
    parser.add_argument("--udp-send", type=int, default=64 << 10, help="bytes, both ends")
    parser.add_argument("--udp-receive", type=int, default=4 << 20, help="bytes, both ends")
    parser.add_argument("--window", type=int, default=1 << 16, help="FC, packets")
    parser.add_argument("--json", type=Path, help="where to write every rate")
    bench(parser.parse_args())


if __name__ == "__main__":
    main()
