"""The ways in which a session with a pushed agent ends, at three stages of it."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import psutil

from tests.benchmarks.pushed.far_host import FarHost

Stage = Literal["sent", "serving", "probing", "done"]

_SLOW: Final = "20mbit"
_FAST: Final = "2gbit"
_TIMEOUT_S: Final = 90.0


class Ending(NamedTuple):
    """`stage`: when `deed` is done. `resumes`: the advisor connects again, and is stopped then."""

    title: str
    stage: Stage
    deed: Callable[[FarHost, "Advisor"], None]
    resumes: bool = False


class Advisor:
    """The advisor on the source, in a session with `dtn`."""

    def __init__(self, host: FarHost, folder: Path, words: list[str]) -> None:
        environment = os.environ | {
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "HOME": str(folder / "here"),
            "XDG_DATA_HOME": str(folder / "here" / "data"),
            "ADVISOR_RUNTIME_DIR": str(folder / "here" / "run"),
        }
        self.process = subprocess.Popen(
            [*host.source, sys.executable, "-P", "-m", "advisor", *words, "--json"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            start_new_session=True,
        )

    def event(self, tag: str) -> dict[str, Any]:
        """Read up to the next event of this kind. Raises EOFError with what was said instead."""
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        for line in self.process.stdout:
            event: dict[str, Any] = json.loads(line)
            if event["event"] == tag:
                return event
        raise EOFError(f"no {tag}: {self.process.stderr.read()}")

    def below(self, name: str) -> list[psutil.Process]:
        """The processes of that name that it has started."""
        with contextlib.suppress(psutil.NoSuchProcess):
            children = psutil.Process(self.process.pid).children(recursive=True)
            return [one for one in children if one.name() == name]
        return []

    def signal(self, number: int) -> None:
        """To the process that runs the command, not to what it was started with."""
        lines = psutil.Process(self.process.pid)
        for one in [lines, *lines.children(recursive=True)]:
            with contextlib.suppress(psutil.Error):
                if "advisor" in one.cmdline() and "unshare" not in one.name():
                    one.send_signal(number)
                    return

    def stop(self) -> None:
        """End it, if it has not ended."""
        with contextlib.suppress(psutil.NoSuchProcess):
            self.signal(signal.SIGINT)
        try:
            self.process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.communicate()


def _here(number: int) -> Callable[[FarHost, Advisor], None]:
    return lambda _, advisor: advisor.signal(number)


def _ssh(number: int) -> Callable[[FarHost, Advisor], None]:
    def deed(_: FarHost, advisor: Advisor) -> None:
        for one in advisor.below("ssh"):
            one.send_signal(number)

    return deed


def _there(number: int, *words: str) -> Callable[[FarHost, Advisor], None]:
    def deed(host: FarHost, _: Advisor) -> None:
        found = host.named(*words)
        assert found, f"nothing there is called {words}"
        for one in found:
            with contextlib.suppress(psutil.NoSuchProcess):
                one.send_signal(number)

    return deed


def _everything(host: FarHost, _: Advisor) -> None:
    for one in host.processes():
        with contextlib.suppress(psutil.NoSuchProcess):
            one.kill()


def _cut(host: FarHost, _: Advisor) -> None:
    host.cut()


def _silence(host: FarHost, advisor: Advisor) -> None:
    host.links("down")
    time.sleep(45)
    os.killpg(advisor.process.pid, signal.SIGKILL)
    host.links("up")


def _shell(host: FarHost, _: Advisor) -> None:
    time.sleep(random.uniform(0, 0.2))
    for one in host.named("eval"):
        with contextlib.suppress(psutil.NoSuchProcess):
            one.kill()


def _nothing(_: FarHost, __: Advisor) -> None:
    """The session ends by itself."""


_AGENT: Final = "advisor.agent.carried"
_CHILD: Final = "advisor.probing.child"

ENDINGS: Final = (
    Ending("the session ends", "done", _nothing),
    Ending("Ctrl-C while a probe runs", "probing", _here(signal.SIGINT)),
    Ending("SIGTERM to the advisor", "serving", _here(signal.SIGTERM)),
    Ending("SIGHUP to the advisor", "serving", _here(signal.SIGHUP)),
    Ending("kill -9 of the advisor while a probe runs", "probing", _here(signal.SIGKILL)),
    Ending("kill -9 of the advisor while the agent is sent", "sent", _here(signal.SIGKILL)),
    Ending("SIGTERM to ssh", "serving", _ssh(signal.SIGTERM), True),
    Ending("kill -9 of ssh while a probe runs", "probing", _ssh(signal.SIGKILL), True),
    Ending("kill -9 of ssh while the agent is sent", "sent", _ssh(signal.SIGKILL)),
    Ending("the connection is cut while a probe runs", "probing", _cut, True),
    Ending("the connection is cut while the agent is sent", "sent", _cut),
    Ending("the network is silent for 45 s", "serving", _silence),
    Ending("SIGTERM to the agent", "serving", _there(signal.SIGTERM, _AGENT), True),
    Ending("kill -9 of the agent while a probe runs", "probing", _there(9, _AGENT), True),
    Ending("a crash of the agent (SIGSEGV)", "serving", _there(signal.SIGSEGV, _AGENT), True),
    Ending("kill -9 of the agent's child in a probe", "probing", _there(9, _CHILD), True),
    Ending("kill -9 of all that the account runs, in a probe", "probing", _everything, True),
    Ending("kill -9 of the shell that receives the agent", "sent", _there(9, "eval")),
    Ending("kill -9 of head, which reads the agent", "sent", _there(9, "head -c")),
    Ending("kill -9 of gzip, which unpacks the agent", "sent", _there(9, "gzip")),
    Ending("kill -9 of the shell within 0.2 s of its start", "sent", _shell),
)


def try_ending(ending: Ending, host: FarHost, folder: Path) -> tuple[float, list[str]]:
    """The seconds until nothing was left, and what was left after a minute and a half."""
    host.shaped(_SLOW if ending.stage == "sent" else _FAST)
    long = ["--budget", "14" if ending.stage == "done" else "60", "--transports", "tcp"]
    words = ["advise", "dtn", "--push", *long]
    if ending.stage == "serving":
        words = ["path", "dtn", "--push", "--watch"]
    advisor = Advisor(host, folder, words)
    try:
        _reach(ending, host, advisor)
        ending.deed(host, advisor)
        if ending.stage == "done":
            advisor.event("advice")
        if ending.resumes:
            time.sleep(5)
        if ending.resumes or ending.stage == "done":
            advisor.stop()
        began_s = time.monotonic()
        while (left := host.left()) and time.monotonic() < began_s + _TIMEOUT_S:
            time.sleep(0.05)
        return time.monotonic() - began_s, left
    finally:
        advisor.stop()


def _reach(ending: Ending, host: FarHost, advisor: Advisor) -> None:
    match ending.stage:
        case "sent" if ending.deed is _shell:
            while not host.named("eval"):
                time.sleep(0.005)
        case "sent":
            advisor.event("notice")
            time.sleep(0.7)
        case "serving":
            advisor.event("rtt_seen")
        case "probing":
            advisor.event("interval")
        case "done":
            advisor.event("path_found")
