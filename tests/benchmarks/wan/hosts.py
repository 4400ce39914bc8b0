"""A lab for the benchmark, which is always taken down."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from filelock import FileLock, Timeout

from tests.benchmarks.wan.cases import Case

ROOT: Final = Path(__file__).resolve().parents[3]
_NAME: Final = "bench-wan"
_CONTROL: Final = "/proc/sys/net/ipv4/tcp_congestion_control"
_PORT: Final = 5301
# Without reports: nobody reads more than the first line, and a full pipe would stop the server.
_SERVER: Final = ["iperf3", "-s", "-1", "--forceflush", "-i", "0"]
_GRACE_S: Final = 60
"""How much longer than asked iperf3 may take: both ends exchange results behind a full queue."""


class Trouble(Exception):
    """The bench cannot continue; the message is a sentence."""


@contextlib.contextmanager
def own_folder() -> Iterator[Path]:
    """Where the bench's labs are and nobody else's, and only one bench at a time.

    What a killed one left behind is taken down first.
    """
    folder = Path(tempfile.gettempdir()) / f"advisor-bench-wan-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    lock = FileLock(folder / "lock", blocking=False)
    try:
        lock.acquire()
    except Timeout:
        raise Trouble("another bench-wan is running") from None
    try:
        _advisor(folder, "lab", "down", "--all")
        yield folder
    finally:
        _advisor(folder, "lab", "down", "--all")
        lock.release()


def _command(*words: str, checkout: Path | None = None) -> list[str]:
    python = str(checkout / ".venv/bin/python") if checkout else sys.executable
    return [python, "-P", "-m", "advisor", *words]


def _environment(folder: Path, checkout: Path | None = None) -> dict[str, str]:
    own = {"ADVISOR_RUNTIME_DIR": str(folder / "advisor"), "PYTHONPATH": str(checkout or ROOT)}
    return os.environ | own


def _advisor(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        _command(*words),
        capture_output=True,
        text=True,
        check=False,
        env=_environment(folder),
        cwd=ROOT,
    )


class Lab:
    """Two hosts and the path of a case, up from `with` to its end."""

    def __init__(self, folder: Path, case: Case, seed: int, name: str = _NAME) -> None:
        self._folder = folder
        self._case = case
        self._seed = seed
        self._name = name

    def __enter__(self) -> Lab:
        self._lab_command("down", self._name, may_fail=True)
        try:
            self._lab_command("up", self._name, *self._case.options, "--seed", str(self._seed))
            self._say_congestion()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._lab_command("down", self._name, may_fail=True)

    @property
    def endpoint(self) -> str:
        return f"lab:{self._name}"

    def _lab_command(self, *words: str, may_fail: bool = False) -> str:
        done = _advisor(self._folder, "lab", *words)
        if done.returncode and not may_fail:
            raise Trouble(f"advisor lab {shlex.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def _say_congestion(self) -> None:
        """Have both hosts say that their kernels' congestion control is the case's.

        A namespace may not set one that the machine restricts. A file in its place makes advisor
        ask for it by name in every probe, the defaults included.
        """
        if not self._case.congestion:
            return
        said = self._folder / f"congestion-{self._name}"
        said.write_text(self._case.congestion + "\n")
        for host in ("source", "far"):
            self._lab_command(
                "exec", self._name, "--host", host, "--", "mount", "--bind", str(said), _CONTROL
            )

    def _status(self) -> dict[str, Any]:
        status: dict[str, Any] = json.loads(self._lab_command("status", self._name, "--json"))
        return status

    @property
    def far_address(self) -> str:
        """The address of the destination."""
        return str(self._status()["hosts"][0]["address"])

    @property
    def source_address(self) -> str:
        """The address of the source on the path."""
        script = "import sys; from advisor.hosts.own_sockets import own_address_facing as facing; "
        argv = [sys.executable, "-c", f"{script}print(facing(sys.argv[1]))", self.far_address]
        done = subprocess.run(self.command(argv), capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def command(self, argv: list[str], host: str = "source") -> list[str]:
        """The command that runs a program on a host."""
        return _command("lab", "exec", self._name, "--host", host, "--", *argv)

    def sent_bytes(self) -> int:
        """What has crossed the path towards the destination."""
        return int(self._status()["hosts"][0]["forward"]["bytes"])

    def late(self) -> tuple[float, float] | None:
        """How late 99 of 100 packets were handed over at most, and the worst; None if not known."""
        late = self._status()["lateness"]
        return (late["p99_s"], late["most_s"]) if late else None

    def load(self, on: bool, settle_s: float = 3.0) -> None:
        """Switch the case's external load, where it has one, and let it settle."""
        if self._case.load_streams:
            self._lab_command(
                "load", self._name, "--transfers", str(self._case.load_streams if on else 0)
            )
            time.sleep(settle_s)

    @contextlib.contextmanager
    def loaded_after(self, seconds: float) -> Iterator[None]:
        """The case's load from this long after now to the end of the block."""
        if not self._case.load_streams:
            yield
            return
        timer = threading.Timer(seconds, lambda: self.load(True))
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()
            self.load(False)

    @contextlib.contextmanager
    def running(self, argv: list[str], host: str = "source") -> Iterator[subprocess.Popen[str]]:
        """A program on a host, ended with the block."""
        with _child(self.command(argv, host), self._folder) as p:
            yield p

    def advisor(
        self, *words: str, timeout_s: float, checkout: Path | None = None
    ) -> tuple[list[dict[str, Any]], int]:
        """The events of an advisor's command, run here as a user would, and its exit code.

        `checkout`: of another version with its .venv, None for this one.
        """
        argv = _command(*words, "--json", checkout=checkout)
        with _child(argv, self._folder, checkout) as process:
            output = _output(process, f"advisor {shlex.join(words)}", timeout_s)
            return [json.loads(line) for line in output.splitlines()], process.returncode

    def iperf3(
        self,
        congestion: str,
        start_s: int,
        counted_s: int,
        *,
        streams: int = 1,
        window_bytes: int = 0,
    ) -> float:
        """The program's own rate as the receiver has it, in bit/s. Raises Trouble if it fails.

        `window_bytes`: the buffers of both ends; 0 leaves them to the kernels.
        """
        port = ["-p", str(_PORT)]
        with self.running([*_SERVER, *port], host="far") as server:
            _await_line(server, "listening")
            client = ["iperf3", "-c", "far", *port, "-J", "-C", congestion]
            client += ["-O", str(start_s), "-t", str(counted_s), "-P", str(streams)]
            client += ["-w", str(window_bytes)] if window_bytes else []
            with self.running(client) as process:
                output = _output(process, shlex.join(client), start_s + counted_s + _GRACE_S)
        report = json.loads(output or "{}")
        if "error" in report or "sum_received" not in report.get("end", {}):
            raise Trouble(f"iperf3: {report.get('error', 'it ended without a result')}")
        return float(report["end"]["sum_received"]["bits_per_second"])


def _output(process: subprocess.Popen[str], name: str, timeout_s: float) -> str:
    """What it prints until its end. Raises Trouble if that takes longer."""
    try:
        return process.communicate(timeout=timeout_s)[0]
    except subprocess.TimeoutExpired:
        raise Trouble(f"{name} took over {timeout_s:.0f} s") from None


def _await_line(process: subprocess.Popen[str], word: str) -> None:
    """Until the program prints a line with this word. Raises Trouble if it ends before."""
    if not any(word in line for line in process.stdout or ()):
        raise Trouble(f"{process.args} ended before it printed {word!r}")


@contextlib.contextmanager
def _child(
    argv: list[str], folder: Path, checkout: Path | None = None
) -> Iterator[subprocess.Popen[str]]:
    """A process in a session of its own, which is ended with the block, children too."""
    process = subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=_environment(folder, checkout),
        cwd=checkout or ROOT,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        for end in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, end)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
                break
        for pipe in (process.stdin, process.stdout):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()
