"""What the tests of the whole program share: running it, agents, namespaces, what is left."""

import asyncio
import contextlib
import functools
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from advisor.hosts import compiled
from advisor.lab import emulator
from advisor.lab.networks import NetworkError
from advisor.lab.state import MARK
from advisor.testing.gridftp import GridFTPServer, anonymous_server
from tests.line_reader import LineReader
from tests.namespaces import Namespace
from tests.plugins.tools.gridftp_lines import require
from tests.soak.gridftp import KillableServer
from tests.ssh_server import SSHD, SshServer, several_names, ssh_server, ssh_that_knows

from .tool_servers import SendingServer, SftpServer, sending_server, sftp_server

ADVISOR = [sys.executable, "-P", "-m", "advisor"]
SHORT = ["--budget", "24"]
TCP_ALONE = [*SHORT, "--transports", "tcp"]
"""For what holds for any session: UDT would take as long again."""
MODEST = ["--rate", "200Mbit", "--rtt", "20ms", "--mtu", "1500"]


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


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start `advisor`; killed at the test's end if it still runs."""
    runs: list[Run] = []

    def run(
        *arguments: str,
        prefix: list[str] | None = None,
        environment: dict[str, str] | None = None,
        stdin: int = subprocess.DEVNULL,
    ) -> Run:
        runs.append(Run(tmp_path, list(arguments), prefix, environment, stdin))
        return runs[-1]

    yield run
    for one in runs:
        one.kill()


class Agent:
    """A listening agent, its port and the file with its secret."""

    def __init__(self, run: Run, port: int, secret_file: Path, host: str) -> None:
        self.run = run
        self.port = port
        self.secret_file = secret_file
        self.host = host

    @property
    def options(self) -> list[str]:
        """How to reach it."""
        return ["--agent", f"{self.host}:{self.port}", "--secret-file", str(self.secret_file)]


StartAgent = Callable[..., Agent]


@pytest.fixture
def start_agent(start: Start, tmp_path: Path) -> StartAgent:
    """Start a listening agent and wait until it listens."""

    def run(*options: str, host: str = "127.0.0.1", prefix: list[str] | None = None) -> Agent:
        secret_file = tmp_path / "secret"
        listen = ["--listen", f"{host}:0", "--secret-file", str(secret_file)]
        agent = start("agent", *listen, *options, prefix=prefix)
        assert agent.process.stderr is not None
        line = agent.process.stderr.readline()
        assert "listening on" in line, line
        return Agent(agent, int(line.rsplit(":", 1)[1]), secret_file, host)

    return run


def children_left(home: Path) -> list[str]:
    """Command lines of what still runs with this test's data folder in its environment."""
    mark = f"ADVISOR_RUNTIME_DIR={home}/advisor".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    line = (entry / "cmdline").read_bytes()
                    found.append(line.replace(b"\0", b" ").decode())
    return found


def wait_until(condition: Callable[[], bool], timeout_s: float = 30, every_s: float = 0.05) -> bool:
    """Whether it comes true within the time; it is asked so often."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(every_s)
    return condition()


@pytest.fixture(autouse=True)
def nothing_left_behind(tmp_path: Path) -> Iterator[None]:
    """Every test ends with no process of its own running."""
    yield
    assert wait_until(lambda: not children_left(tmp_path)), children_left(tmp_path)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for a few records."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=24k", "none", str(place)]
    done = subprocess.run(mount, check=False, capture_output=True, text=True, timeout=10)
    if done.returncode:
        pytest.skip(f"needs root, it mounts a small file system: {done.stderr.splitlines()[0]}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True, timeout=10)


class Namespaces:
    """Two hosts joined by a link, as network namespaces."""

    source_address = "10.99.7.1"
    destination_address = "10.99.7.2"

    def __init__(self) -> None:
        self.source, self.destination = Namespace(), Namespace()

    def join(self) -> None:
        """A veth pair of 200 Mbit/s each way."""
        peer = ("peer", "name", "v0", "netns", self.destination.path)
        self.source.run("ip", "link", "add", "v0", "type", "veth", *peer)
        shaped = ("tbf", "rate", "200mbit", "burst", "256kb", "latency", "50ms")
        for side, address in (
            (self.source, self.source_address),
            (self.destination, self.destination_address),
        ):
            side.run("ip", "addr", "add", f"{address}/24", "dev", "v0")
            side.run("ip", "link", "set", "v0", "up")
            side.run("tc", "qdisc", "add", "dev", "v0", "root", *shaped)

    def close(self) -> None:
        self.source.close()
        self.destination.close()


@pytest.fixture
def joined() -> Iterator[Namespaces]:
    """Two namespaces joined by a veth pair of 200 Mbit/s each way."""
    try:
        pair = Namespaces()
    except NetworkError as error:
        pytest.skip(f"no network namespaces here: {error}")
    try:
        pair.join()
        yield pair
    finally:
        pair.close()


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
    """Process ids and command lines of what has this in its environment."""
    entry = f"{MARK}={mark}".encode()
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                if entry in (folder / "environ").read_bytes().split(b"\0"):
                    line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    found[int(folder.name)] = line
    return found


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


@pytest.fixture(scope="session")
def lab_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's cache with the emulator in it, compiled once for all tests."""
    need_labs()
    cache = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        if compiled.program(emulator.SOURCE_FILE) is None:
            pytest.skip("no lab can be made here: the emulator does not compile")
    return cache


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


@pytest.fixture
def new_lab(tmp_path: Path, lab_cache: Path) -> Iterator[NewLab]:
    """Labs of this test's own, not up yet."""
    with labs_below(tmp_path, lab_cache) as new:
        yield new


@pytest.fixture
def lab(new_lab: NewLab) -> Lab:
    """A path of 200 Mbit/s and 20 ms with Ethernet's MTU."""
    return new_lab().up(*MODEST)


class Server:
    """A GridFTP server in a thread of its own, until it is ended. `options`: more for its line."""

    tool = "globus-url-copy"

    def __init__(self, *options: str, own_account: bool = False) -> None:
        self._options = options
        self._own_account = own_account
        self._loop = asyncio.new_event_loop()
        self._over = asyncio.Event()
        self._ready = threading.Event()
        self.offered: GridFTPServer | None = None
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._run(),))
        self._thread.start()
        assert self._ready.wait(30)

    async def _run(self) -> None:
        async with anonymous_server(*self._options, own_account=self._own_account) as self.offered:
            self._ready.set()
            await self._over.wait()

    @property
    def folder(self) -> Path:
        assert self.offered is not None
        return self.offered.folder

    @property
    def url(self) -> str:
        assert self.offered is not None
        return self.offered.url

    def end(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._over.set)
            self._thread.join()
            self._loop.close()


@pytest.fixture
def server() -> Iterator[Server]:
    require("globus-gridftp-server", "globus-url-copy")
    one = Server()
    yield one
    one.end()


@pytest.fixture
def own_server() -> Iterator[Server]:
    """One that works under the account of the agent."""
    require("globus-gridftp-server", "globus-url-copy")
    one = Server(own_account=True)
    yield one
    one.end()


@pytest.fixture
def killable() -> Iterator[KillableServer]:
    require("globus-gridftp-server", "globus-url-copy")
    with tempfile.TemporaryDirectory(prefix="gridftp-") as base:
        # The server's account has to get through.
        Path(base).chmod(0o711)
        with KillableServer(Path(base)) as one:
            yield one


@pytest.fixture
def sshd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SshServer]:
    """A server, and an `ssh` that knows it as `dtn`."""
    environment = f"SetEnv ADVISOR_RUNTIME_DIR={tmp_path}/advisor HOME={tmp_path}"
    with ssh_server(tmp_path / "ssh", environment) as server:
        programs = ssh_that_knows(tmp_path, several_names(server))
        monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        yield server


@pytest.fixture(params=["globus-url-copy", "rclone"])
def any_server(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Server | SftpServer | SendingServer]:
    """One for a tool that moves ranges, and one for a tool that does not."""
    with _server_for(request.param, monkeypatch) as one:
        yield one


@pytest.fixture(params=["globus-url-copy", "rclone", "rsync", "xrdcp"])
def every_server(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Server | SftpServer | SendingServer]:
    """One for each tool that a transfer may run."""
    with _server_for(request.param, monkeypatch) as one:
        yield one


@contextlib.contextmanager
def _server_for(
    tool: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Server | SftpServer | SendingServer]:
    if tool == "globus-url-copy":
        require("globus-gridftp-server", "globus-url-copy")
        gridftp = Server()
        yield gridftp
        gridftp.end()
        return
    if tool == "xrdcp":
        with sending_server() as sending:
            yield sending
        return
    require(tool, "ssh")
    if not Path(SSHD).exists():
        pytest.skip("there is no sshd here: apt-get install openssh-server")
    with sftp_server(tool) as sftp:
        monkeypatch.setenv("PATH", f"{sftp.programs}:{os.environ['PATH']}")
        yield sftp


@pytest.fixture
def known_sshd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SshServer]:
    """One that the user's ssh knows, and that lets many log in at the same time."""
    require("ssh")
    with ssh_server(tmp_path / "ssh", "MaxStartups 100") as one:
        programs = ssh_that_knows(tmp_path, f"Host {one.address} localhost\n{one.login}")
        monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        yield one
