"""Strangers without the secret against a listening agent, and how long an advisor waits.

`python -m tests.soak.strangers [NUMBER]`: idle ones, ones that begin TLS, ones that send garbage.
"""

import asyncio
import contextlib
import os
import resource
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from advisor.agent.connect import reach_tls
from advisor.agent.secret import read_secret

KINDS = ("idle", "beginning TLS", "garbage")


@dataclass(frozen=True)
class ListeningAgent:
    """A running `advisor agent --listen`."""

    process: subprocess.Popen[bytes]
    port: int
    secret: str
    log: Path

    @property
    def memory_bytes(self) -> int:
        return int(psutil.Process(self.process.pid).memory_info().rss)

    @property
    def open_files(self) -> int:
        return int(psutil.Process(self.process.pid).num_fds())


@contextlib.contextmanager
def listening_agent(folder: Path, descriptors: int | None = None) -> Iterator[ListeningAgent]:
    """`descriptors`: the most that it may have open."""
    secret_file, log = folder / "secret", folder / "log"
    limit = ["prlimit", f"--nofile={descriptors}"] if descriptors else []
    command = ["-P", "-m", "advisor", "agent", "--listen", "127.0.0.1:0"]
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [*limit, sys.executable, *command, "--secret-file", str(secret_file)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            env={**os.environ, "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder)},
        )
    try:
        deadline_s = time.monotonic() + 30
        while "listening on" not in (said := log.read_text()):
            assert process.poll() is None, said
            assert time.monotonic() < deadline_s, said
            time.sleep(0.05)
        port = int(said.split("listening on 127.0.0.1:")[1].split()[0])
        yield ListeningAgent(process, port, read_secret(secret_file), log)
    finally:
        process.terminate()
        process.wait(30)


@contextlib.contextmanager
def strangers(port: int, number: int, kind: str, source: str = "127.0.0.1") -> Iterator[None]:
    """This many connections from that address, which stay open."""
    hello = _client_hello()
    with contextlib.ExitStack() as stack:
        for _ in range(number):
            one = stack.enter_context(socket.socket())
            one.bind((source, 0))
            one.connect(("127.0.0.1", port))
            with contextlib.suppress(ConnectionError):
                if kind == "beginning TLS":
                    one.sendall(hello)
                elif kind == "garbage":
                    one.sendall(b"GET / HTTP/1.1\r\n\r\n")
        yield


def _client_hello() -> bytes:
    """What a TLS client sends first."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="agent")
    with contextlib.suppress(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


def seconds_to_connect(agent: ListeningAgent) -> float:
    """How long an advisor that has the secret takes, up to the agent's greeting."""

    async def connect() -> None:
        reached = await reach_tls("127.0.0.1", agent.port, agent.secret)
        await reached.link.close()

    began_s = time.monotonic()
    asyncio.run(connect())
    return time.monotonic() - began_s


def main() -> None:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 4 * number + 1000), most))
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as folder, listening_agent(Path(folder)) as agent:
            alone_s, before_bytes = seconds_to_connect(agent), agent.memory_bytes
            with strangers(agent.port, number, kind):
                beside_s = seconds_to_connect(agent)
                grown_bytes, files = agent.memory_bytes - before_bytes, agent.open_files
            log_bytes = agent.log.stat().st_size
        sys.stdout.write(
            f"{number} strangers, {kind}: connected in {beside_s:.2f} s (alone {alone_s:.2f} s), "
            f"{grown_bytes / 1e6:.1f} MB more memory, {files} open files, {log_bytes} B of log\n"
        )


if __name__ == "__main__":
    main()
