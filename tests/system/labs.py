"""Labs of the tests' own, and what runs in them."""

import contextlib
import functools
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from advisor.lab.state import MARK

from .program import ADVISOR, own_environment, processes_with

MODEST = ["--rate", "200Mbit", "--rtt", "20ms", "--mtu", "1500"]


class Lab:
    """A lab of its own folders, and `advisor lab` spoken to it."""

    def __init__(self, home: Path, cache: Path, name: str) -> None:
        self.home = home
        self.name = name
        self.folder = home / "advisor" / "lab" / name
        self.environment = own_environment(home) | {"XDG_CACHE_HOME": str(cache)}
        self._programs: list[subprocess.Popen[str]] = []

    def run(self, command: str, *words: str) -> subprocess.CompletedProcess[str]:
        """`advisor lab COMMAND NAME WORDS…`."""
        return subprocess.run(
            [*ADVISOR, "lab", command, self.name, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            env=self.environment,
            check=False,
        )

    def do(self, command: str, *words: str) -> str:
        """As `run`, where it has to succeed; what it printed."""
        done = self.run(command, *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def up(self, *words: str) -> "Lab":
        self.do("up", *words)
        return self

    def status(self) -> dict[str, Any]:
        status: dict[str, Any] = json.loads(self.do("status", "--json"))
        return status

    def python(self, host: str, program: str, *words: str) -> subprocess.Popen[str]:
        """A Python program that runs on a host, with pipes; killed at the test's end."""
        process = subprocess.Popen(
            [
                *(*ADVISOR, "lab", "exec", self.name, "--host", host, "--"),
                *(sys.executable, "-u", "-c", program, *words),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=self.environment,
        )
        self._programs.append(process)
        return process

    def end_programs(self) -> None:
        for program in self._programs:
            with program:
                program.kill()
        self._programs.clear()

    @property
    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = json.loads((self.folder / "lab.json").read_bytes())
        return state

    def processes(self) -> dict[int, str]:
        """Process ids and command lines of all that has this lab's mark."""
        return marked(self.state["mark"])

    def process(self, *words: str) -> int:
        """The one process of the lab that has all these words in its command line, and no shell."""
        found = [
            pid
            for pid, line in self.processes().items()
            if all(word in line for word in words) and not line.startswith(("/bin/sh", "sh "))
        ]
        assert found, (words, self.processes())
        return min(found)


def marked(mark: str) -> dict[int, str]:
    """Process ids and command lines of what belongs to the lab with this mark."""
    return processes_with(MARK, mark)


@functools.cache
def _why_no_lab() -> str | None:
    own = [] if os.geteuid() == 0 else ["--user", "--map-current-user", "--keep-caps"]
    made = ["unshare", *own, "--net", "--mount", "ip", "tuntap", "add", "t0", "mode", "tun"]
    try:
        done = subprocess.run(made, capture_output=True, text=True, timeout=10, check=False)
    except OSError as error:
        return str(error)
    return f"no lab can be made here: {done.stderr.strip()}" if done.returncode else None


def need_labs() -> None:
    """Skip where neither root nor user namespaces are there, or no /dev/net/tun, or no compiler."""
    if why := _why_no_lab():
        pytest.skip(why)


NewLab = Callable[..., Lab]
_numbers = itertools.count()


@contextlib.contextmanager
def labs_below(home: Path, cache: Path) -> Iterator[NewLab]:
    """Names for labs in this folder; whatever became of them, they are taken down."""
    made: list[Lab] = []

    def new() -> Lab:
        made.append(Lab(home, cache, f"t{os.getpid()}-{next(_numbers)}"))
        return made[-1]

    try:
        yield new
    finally:
        for lab in made:
            lab.end_programs()
            lab.run("down")
