"""Runs the program: one process, and what is left of it."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.line_reader import LineReader

ADVISOR = [sys.executable, "-P", "-m", "advisor"]
SHORT = ["--budget", "24"]
TCP_ALONE = [*SHORT, "--transports", "tcp"]
"""For what holds for any session: UDT would take as long again."""


def own_environment(home: Path) -> dict[str, str]:
    """That of a user whose folders are all below `home`."""
    return {
        "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin",
        "HOME": str(home),
        # What a killed process leaves goes with the folder of the run.
        "TMPDIR": tempfile.gettempdir(),
        "XDG_DATA_HOME": str(home / "data"),
        "ADVISOR_RUNTIME_DIR": str(home / "advisor"),
    }


class Run:
    """One `advisor` process with its own data folder, so that nothing of the user's is touched."""

    def __init__(
        self,
        home: Path,
        arguments: list[str],
        prefix: list[str] | None = None,
        environment: dict[str, str] | None = None,
        stdin: int = subprocess.DEVNULL,
    ) -> None:
        self.process = subprocess.Popen(
            [*(prefix or []), *ADVISOR, *arguments],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=own_environment(home) | (environment or {}),
            start_new_session=True,
        )
        self.events: list[dict[str, Any]] = []
        assert self.process.stdout is not None
        self._lines = LineReader(self.process.stdout)

    def wait_for(self, event: str, timeout_s: float = 60, **fields: Any) -> dict[str, Any]:
        """Read events up to the first of this kind with these fields."""
        deadline = time.monotonic() + timeout_s
        while line := self._lines.line(deadline):
            self.events.append(json.loads(line))
            newest = self.events[-1]
            if newest["event"] == event and fields.items() <= newest.items():
                return newest
        self._end()
        assert self.process.stderr is not None
        seen = [str(one["event"]) for one in self.events[-20:]]
        raise AssertionError(
            f"no {event} came after {seen}, {self.events[-1:]}: {self.process.stderr.read()}"
        )

    def order(self, **order: Any) -> None:
        """Write an order to a session that was started with --orders."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()

    def finish(self, timeout_s: float = 90) -> subprocess.CompletedProcess[str]:
        """Wait for its end; the events read so far stay in `events`."""
        out, err = self.process.communicate(timeout=timeout_s)
        out = self._lines.rest().decode() + out
        self.events += [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        return subprocess.CompletedProcess([], self.process.returncode, out, err)

    def _end(self) -> None:
        if self.process.returncode is not None:
            return  # Its number may be another's by now.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def kill(self) -> None:
        self._end()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        self.process.wait()


Start = Callable[..., Run]


def processes_with(variable: str, value: str) -> dict[int, str]:
    """Process ids and command lines of what has this in its environment."""
    entry = f"{variable}={value}".encode()
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                if entry in (folder / "environ").read_bytes().split(b"\0"):
                    line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    found[int(folder.name)] = line
    return found


def children_left(home: Path) -> list[str]:
    """Command lines of what still runs with this test's data folder in its environment."""
    return list(processes_with("ADVISOR_RUNTIME_DIR", f"{home}/advisor").values())


def wait_until(condition: Callable[[], bool], timeout_s: float = 30, every_s: float = 0.05) -> bool:
    """Whether it comes true within the time; it is checked every `every_s` seconds."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(every_s)
    return condition()
