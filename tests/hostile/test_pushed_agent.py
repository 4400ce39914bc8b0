"""What is left of an agent that was brought over ssh, and who can put another in its place.

The shell script that receives it runs here without ssh, and what it receives is a stand-in: a
script that says what it was started with, and then lives as long as its standard input.
"""

import asyncio
import contextlib
import gzip
import hashlib
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import psutil
import pytest

from advisor.agent import target_messages as t
from advisor.agent.delivery import Delivery
from advisor.agent.files import ANYWHERE
from advisor.agent.pushing import AgentFile, script_for
from advisor.agent.turn import Turn
from advisor.hosts.checksums import Reading
from tests.attacked_agent import ATTACKS, attacked

SHELLS = [shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)]
STAND_IN = b"""#!/bin/sh
[ "$1" = --runs ] && exit 0
echo "started $*"
exec cat >/dev/null
"""
PADDING = os.urandom(300_000).hex().encode()


class Pushed:
    """One run of the script, whose folders are all below `home`."""

    def __init__(self, home: Path, shell: str = "sh") -> None:
        self.home = home
        self.places = [home / "tmp", home / "run", home / "home"]
        for place in self.places:
            place.mkdir(exist_ok=True)
        program = STAND_IN + b"# " + PADDING + b"\n"
        self.file = AgentFile(
            machine=platform.machine(),
            sent=gzip.compress(program, 1),
            digest=hashlib.sha256(program).hexdigest(),
            size_bytes=len(program),
        )
        self.shell = ["busybox", "sh"] if shell == "busybox" else [shell]
        self.before = ""
        """What the shell runs before the script."""
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def cached(self) -> Path:
        name = f"{self.file.machine}-{self.file.digest}"
        return self.home / "home" / ".cache" / "advisor" / "agents" / name

    def start(self, *, keep: bool = False) -> None:
        script = script_for([self.file], (7, 9), keep=keep)
        self.process = subprocess.Popen(
            [*self.shell, "-c", f'{self.before}eval "$(head -c {len(script)})"'],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={
                "PATH": "/usr/bin:/bin",
                "TMPDIR": str(self.home / "tmp"),
                "XDG_RUNTIME_DIR": str(self.home / "run"),
                "HOME": str(self.home / "home"),
            },
            start_new_session=True,
        )
        self.write(script)

    def write(self, content: bytes) -> None:
        assert self.process is not None
        assert self.process.stdin is not None
        self.process.stdin.write(content)
        self.process.stdin.flush()

    def line(self) -> str:
        assert self.process is not None
        assert self.process.stdout is not None
        return self.process.stdout.readline().decode().removeprefix("advisor-push ").strip()

    def run(self, *, keep: bool = False) -> list[str]:
        """From the beginning to the agent's first line: what was said."""
        self.start(keep=keep)
        said = [self.line()]
        while said[-1] and not said[-1].startswith(("started", "failed")):
            if said[-1].startswith("send "):
                self.write(self.file.sent)
            said.append(self.line())
        return said

    def processes(self) -> list[psutil.Process]:
        """The session's processes that still live."""
        assert self.process is not None
        found = []
        for one in psutil.process_iter():
            with contextlib.suppress(OSError, psutil.Error):
                if os.getsid(one.pid) == self.process.pid and one.status() != "zombie":
                    found.append(one)
        return found

    def left(self) -> list[Path]:
        """Files and folders that are there, apart from the cache that was asked for."""
        wanted = {self.cached, *self.cached.parents, *self.places}
        return [p for p in self.home.rglob("*") if p not in wanted]

    def end(self) -> None:
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):
                stream.close()
        self.process.wait()


@pytest.fixture(params=SHELLS)
def pushed(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Pushed]:
    one = Pushed(tmp_path, request.param)
    yield one
    one.end()


@pytest.fixture
def one(tmp_path: Path) -> Iterator[Pushed]:
    pushed = Pushed(tmp_path)
    yield pushed
    pushed.end()


def gone(condition: Callable[[], object]) -> bool:
    """Whether there is nothing within ten seconds."""
    deadline_s = time.monotonic() + 10
    while condition():
        if time.monotonic() > deadline_s:
            return False
        time.sleep(0.02)
    return True


def test_it_runs_without_a_name(pushed: Pushed) -> None:
    said = pushed.run()
    assert said == [f"send {platform.machine()}", "start", "started -m advisor.agent.carried 7 9"]
    assert not pushed.left()
    assert pushed.process is not None
    assert pushed.process.stdin is not None
    pushed.process.stdin.close()
    assert gone(pushed.processes)
    assert not pushed.left()


def test_it_runs_whatever_the_language_of_the_login_is(pushed: Pushed) -> None:
    words = "s/regular file/reguläre Datei/; s/regular empty file/reguläre leere Datei/"
    pushed.before = f"stat() {{ command stat \"$@\" | sed '{words}'; }}; "
    started = "started -m advisor.agent.carried 7 9"
    assert pushed.run(keep=True)[1:] == [f"kept {pushed.cached}", "start", started]
    pushed.end()
    assert pushed.run() == [f"cached {pushed.cached}", "start", started]


@pytest.mark.parametrize("name", ["sh", "head", "gzip"])
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_process_that_is_killed_while_it_is_sent(one: Pushed, name: str, share: float) -> None:
    one.start()
    assert one.line().startswith("send ")
    one.write(one.file.sent[: int(share * len(one.file.sent))])

    def named() -> list[psutil.Process]:
        names = {name} if name != "sh" else {"sh", "dash", "bash", "busybox"}
        return [process for process in one.processes() if process.name() in names]

    assert gone(lambda: not named())
    assert not one.left()
    named()[0].kill()
    assert one.process is not None
    assert one.process.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        one.process.stdin.close()
    assert gone(one.processes)
    assert not one.left()


@pytest.mark.parametrize("share", [0.0, 0.3, 0.999])
def test_a_connection_that_is_cut_while_it_is_sent(one: Pushed, share: float) -> None:
    one.start()
    assert one.line().startswith("send ")
    one.write(one.file.sent[: int(share * len(one.file.sent))])
    assert one.process is not None
    assert one.process.stdin is not None
    one.process.stdin.close()
    assert one.line().startswith("failed digest")
    assert gone(one.processes)
    assert not one.left()


def test_the_agent_is_killed(one: Pushed) -> None:
    assert one.run()[-1].startswith("started")
    assert one.process is not None
    one.process.kill()
    assert gone(one.processes)
    assert not one.left()


def test_what_is_not_what_was_announced_is_not_run(one: Pushed) -> None:
    one.start()
    assert one.line().startswith("send ")
    other = gzip.compress(STAND_IN + b"# " + PADDING.swapcase() + b"!\n", 1)
    one.write(other[: len(one.file.sent)].ljust(len(one.file.sent), b"\0"))
    assert one.line().startswith("failed digest")
    assert not one.left()


def test_a_copy_that_may_stay_is_used_the_next_time(pushed: Pushed) -> None:
    assert pushed.run(keep=True)[1] == f"kept {pushed.cached}"
    assert pushed.cached.stat().st_mode & 0o777 == 0o700
    pushed.end()
    older = pushed.cached.with_name(f"{platform.machine()}-0123")
    older.touch()
    assert pushed.run()[0] == f"cached {pushed.cached}"
    assert older.exists()
    pushed.end()
    pushed.cached.unlink()
    assert pushed.run(keep=True)[1].startswith("kept")
    assert not older.exists()
    assert not pushed.left()


@pytest.mark.parametrize("attack", ["content", "group", "others", "link", "folder", "pipe"])
def test_a_copy_that_somebody_else_may_have_changed_is_not_used(one: Pushed, attack: str) -> None:
    assert one.run(keep=True)[-1].startswith("started")
    one.end()
    match attack:
        case "content":
            one.cached.write_bytes(one.cached.read_bytes().replace(b"started", b"stolen!"))
        case "group":
            one.cached.chmod(0o720)
        case "others":
            one.cached.chmod(0o702)
        case "link":
            elsewhere = one.home / "home" / "elsewhere"
            elsewhere.write_bytes(one.cached.read_bytes().replace(b"started", b"stolen!"))
            elsewhere.chmod(0o700)
            one.cached.unlink()
            one.cached.symlink_to(elsewhere)
        case "folder":
            one.cached.unlink()
            one.cached.mkdir()
        case "pipe":
            one.cached.unlink()
            os.mkfifo(one.cached)
    said = one.run()
    assert said[0].startswith("send ")
    assert said[-1] == "started -m advisor.agent.carried 7 9"


@pytest.mark.as_root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another account")
def test_a_copy_of_another_account_is_not_used(one: Pushed) -> None:
    assert one.run(keep=True)[-1].startswith("started")
    one.end()
    os.chown(one.cached, 65534, 65534)
    assert one.run()[0].startswith("send ")


def test_where_a_folder_lets_nothing_be_written_another_one_is_used(one: Pushed) -> None:
    (one.home / "tmp").rmdir()
    assert one.run()[-1].startswith("started")
    assert not [path for path in one.left() if path.name != "tmp"]


@pytest.mark.namespaces
def test_where_nothing_may_be_executed_another_folder_is_used(one: Pushed) -> None:
    """The folder's file system says noexec, in a mount namespace of the shell's own."""
    mount = 'mount -t tmpfs -o noexec none "$1" && shift && exec "$@"'
    inside = ["unshare", "--map-root-user", "--mount", "sh", "-c", mount, "sh"]
    if subprocess.run([*inside[:3], "true"], capture_output=True, check=False).returncode:
        pytest.skip("no namespaces can be made here")
    one.shell = [*inside, str(one.home / "tmp"), "sh"]
    said = one.run()
    assert said[1:] == [
        f"norun {one.home / 'tmp'}",
        "start",
        "started -m advisor.agent.carried 7 9",
    ]


def test_another_kind_of_machine_is_named(one: Pushed) -> None:
    one.file = AgentFile("m68k", one.file.sent, one.file.digest, one.file.size_bytes)
    said = one.run()
    assert said == [f"failed machine Linux {platform.machine()}"]


def test_the_agent_loads_nothing_that_its_host_may_lack() -> None:
    """It is also why it starts quickly. What signs receipts comes with the first receipt."""
    program = (
        "import sys, advisor.agent.carried, advisor.probing.child; "
        "from advisor import registry; registry.transports(); registry.tools(); "
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True
    )
    heavy = {"numpy", "scipy", "sklearn", "textual", "rich", "typer", "tinydb", "cryptography"}
    assert not heavy & set(done.stdout.split())


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where an agent would keep its locks and its key."""
    monkeypatch.setenv("ADVISOR_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path


@pytest.mark.parametrize("attack", [*ATTACKS, b""], ids=lambda attack: f"{attack[:8]!r}")
def test_what_is_no_message_ends_it(home: Path, attack: bytes) -> None:
    said = attacked([sys.executable, "-P", "-m", "advisor.agent.carried"], attack)
    assert said == (0, b"", b"")
    assert not list(home.iterdir())


def nobody_is_ahead(_: int) -> Awaitable[None]:
    raise AssertionError("nothing measures here")


@pytest.mark.asyncio
@pytest.mark.usefixtures("own_turn")
async def test_its_turn_makes_no_file(home: Path) -> None:
    async with Turn(makes_files=False).taken(nobody_is_ahead):
        assert not list(home.iterdir())


@pytest.mark.asyncio
@pytest.mark.usefixtures("own_turn")
async def test_its_turn_is_the_one_of_an_agent_that_is_installed(home: Path) -> None:
    installed, pushed = Turn(), Turn(makes_files=False)
    async with installed.taken(nobody_is_ahead):
        pass
    ahead: list[int] = []

    async def waits(number: int) -> None:
        ahead.append(number)

    async def measures() -> None:
        async with pushed.taken(waits):
            pass

    async with installed.taken(nobody_is_ahead):
        waiting = asyncio.create_task(measures())
        while not ahead:
            await asyncio.sleep(0.01)
        assert not waiting.done()
    await waiting


def test_its_key_is_not_stored(home: Path) -> None:
    delivery = Delivery(ANYWHERE, keeps_key=False)
    target = t.ClaimTarget(target=str(home / "target"), manifest="a" * 64, token="b" * 64, who="me")
    taken = delivery.answer(target, Reading())
    delivery.close()
    assert isinstance(taken, t.TargetClaimed)
    assert len(taken.key) == 64
    assert not (home / "data").exists()
