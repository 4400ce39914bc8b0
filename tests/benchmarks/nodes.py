"""A transfer over 1, 2 and 4 nodes whose interfaces limit them, and by the one-node engine.

Needs root, globus-gridftp-server, globus-url-copy and PostgreSQL. Two network namespaces, joined by
one link of RATE for each node, frames of 9000 bytes; a GridFTP server at the other end of each, all
of one folder:

    python -m tests.benchmarks.nodes --rate 50 --seconds 60 --runs 1

All runs use 2 × 2 (files × streams), so that what differs is the queue alone. The rate is that of
the content, over the whole transfer: from when the engine, or the first node, is connected, until
the last piece is proven.
"""

import argparse
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean

from advisor.hosts.processes import server_bound_to_stdin
from tests.benchmarks.disk.files import difference
from tests.benchmarks.markdown import percent, table_text
from tests.namespaces import Namespace
from tests.postgres_server import SharedDatabase, shared_database, temporary_server
from tests.system.program import own_environment

_MOST = 4
_PORT = 2811
_MIB = 2**20
_SSH = """#!/bin/sh
if [ "$1" = -G ]; then echo "hostname $2"; echo "port 22"; exit 0; fi
while [ "$1" != -- ]; do shift; done
exec sh -c "$3"
"""


def address(node: int, side: int) -> str:
    return f"10.98.{node}.{side}"


@contextlib.contextmanager
def joined(rate_mbps: float) -> Iterator[tuple[Namespace, Namespace]]:
    """Source and destination, with a link of this rate for each node."""
    with contextlib.closing(Namespace()) as source, contextlib.closing(Namespace()) as destination:
        for node in range(1, _MOST + 1):
            name = f"v{node}"
            peer = ("peer", "name", name, "netns", destination.path)
            source.run("ip", "link", "add", name, "type", "veth", *peer)
            for side, host in enumerate((source, destination), 1):
                host.run("ip", "addr", "add", f"{address(node, side)}/24", "dev", name)
                host.run("ip", "link", "set", name, "mtu", "9000", "up")
                shaped = ("tbf", "rate", f"{rate_mbps}mbit", "burst", "128kb", "latency", "50ms")
                host.run("tc", "qdisc", "add", "dev", name, "root", *shaped)
        yield source, destination


def named(host: Namespace, base: Path) -> list[str]:
    """What to put before a command there: addresses have names, which the server asks for."""
    names = base / "hosts"
    addresses = [address(node, side) for node in range(1, _MOST + 1) for side in (1, 2)]
    lines = [f"127.0.0.1 localhost {socket.gethostname()}"]
    lines += [f"{one} h{one.replace('.', '-')}" for one in addresses]
    names.write_text("\n".join(lines) + "\n")
    return [*host.host, "sh", "-c", f'mount --bind {names} /etc/hosts && exec "$@"', "sh"]


@contextlib.contextmanager
def servers(destination: Namespace, base: Path) -> Iterator[None]:
    """A GridFTP server on each link, of the folder `offered`."""
    running = []
    for node in range(1, _MOST + 1):
        own = address(node, 2)
        argv = ["globus-gridftp-server", "-p", str(_PORT), "-allow-anonymous"]
        argv += ["-anonymous-user", "nobody", "-hostname", own, "-control-interface", own]
        argv += ["-restrict-paths", f"RW{base / 'offered'}"]
        running.append(
            subprocess.Popen(
                [*named(destination, base), *server_bound_to_stdin(argv)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        )
    time.sleep(2)
    try:
        yield
    finally:
        for one in running:
            with one:
                assert one.stdin is not None
                one.stdin.close()


class Bench:
    """Transfers in these namespaces, to `offered/there`."""

    def __init__(self, source: Namespace, base: Path, database: SharedDatabase) -> None:
        self._prefix = named(source, base)
        self._there = base / "offered" / "there"
        self._home = base / "home"
        self._home.mkdir()
        self._database = database
        ssh = base / "bin" / "ssh"
        ssh.parent.mkdir()
        ssh.write_text(_SSH)
        ssh.chmod(0o755)
        self._environment = own_environment(self._home)
        self._environment["PATH"] = f"{ssh.parent}:{self._environment['PATH']}"

    def rate_bps(self, data: Path, options: Sequence[str]) -> float:
        """Move it, and see that it is there."""
        first = address(1, 2)
        words = ["transfer", str(data), first, "--to", str(self._there), "--json"]
        words += ["--server", f"ftp://{first}:{_PORT}", "--method", "fixed", "--start", "2x2"]
        words += ["--agent-command", f"{sys.executable} -P -m advisor agent --stdio"]
        words += ["--store", self._database.address("alice"), *options]
        done = subprocess.run(
            [*self._prefix, sys.executable, "-P", "-m", "advisor", *words],
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
        end = json.loads(done.stdout.splitlines()[-1])
        assert end["event"] == "transfer_ended"
        assert not difference(data, self._there)
        shutil.rmtree(self._there)
        return float(end["moved_bytes"]) * 8 / float(end["elapsed_s"])


def dataset(folder: Path, total_bytes: int) -> Path:
    """Four large files and forty small ones; a tenth of the bytes is in the small ones."""
    folder.mkdir()
    small, large = total_bytes // 400, (total_bytes * 9 // 10) // 4
    for number in range(44):
        size_bytes = large if number < 4 else small
        with (folder / f"{number}.dat").open("wb") as file:
            for done in range(0, size_bytes, 8 * _MIB):
                file.write(os.urandom(min(8 * _MIB, size_bytes - done)))
    return folder


def via(nodes: int) -> list[str]:
    pairs = [f"localhost=ftp://{address(node, 2)}:{_PORT}" for node in range(1, nodes + 1)]
    return ["--via", ",".join(pairs)]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", type=float, default=50.0, help="Mbit/s of each interface")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long a transfer takes")
    parser.add_argument("--runs", type=int, default=1)
    asked = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} at the start, {os.cpu_count()} cores", flush=True)
    rates: dict[str, list[float]] = {}
    with (
        tempfile.TemporaryDirectory(prefix="nodes") as text,
        joined(asked.rate) as (source, destination),
        temporary_server() as postgres,
    ):
        base = Path(text)
        base.chmod(0o711)
        (base / "offered").mkdir()
        (base / "offered").chmod(0o777)
        bench = Bench(source, base, shared_database(postgres))
        with servers(destination, base):
            for nodes in (0, 1, 2, 4):
                total_bytes = round(asked.rate * 1e6 / 8 * asked.seconds * max(1, nodes))
                data = dataset(base / f"data{nodes}", total_bytes)
                name = f"{nodes} by the queue" if nodes else "one-node engine"
                for _ in range(asked.runs):
                    rates.setdefault(name, []).append(
                        bench.rate_bps(data, via(nodes) if nodes else [])
                    )
                    print(f"{name}: {rates[name][-1] / 1e6:.2f} Mbit/s", flush=True)
                shutil.rmtree(data)
    alone_bps = mean(rates["one-node engine"])
    rows = []
    for name, some in rates.items():
        nodes = 1 if name == "one-node engine" else int(name.split()[0])
        share = mean(some) / (nodes * asked.rate * 1e6)
        as_many = percent(mean(some) / alone_bps / nodes)
        rows.append([name, f"{mean(some) / 1e6:.1f}", percent(share), as_many])
    print(table_text(["nodes", "Mbit/s", "of the interfaces", "of as many alone"], rows))
    print(f"load {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
