"""Fixtures of the tests of the whole program: processes, agents, namespaces, labs, servers."""

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from advisor.hosts import compiled
from advisor.lab import emulator
from advisor.lab.networks import NetworkError
from tests.namespaces import Namespace
from tests.plugins.tools.gridftp_lines import require
from tests.soak.gridftp import KillableServer
from tests.ssh_server import SSHD, SshServer, several_names, ssh_server, ssh_that_knows

from .labs import MODEST, Lab, NewLab, labs_below, need_labs
from .program import Run, Start, children_left, wait_until
from .tool_servers import SendingServer, Server, SftpServer, sending_server, sftp_server


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


@pytest.fixture
def new_lab(tmp_path: Path, lab_cache: Path) -> Iterator[NewLab]:
    """Labs of this test's own, not up yet."""
    with labs_below(tmp_path, lab_cache) as new:
        yield new


@pytest.fixture
def lab(new_lab: NewLab) -> Lab:
    """A path of 200 Mbit/s and 20 ms with Ethernet's MTU."""
    return new_lab().up(*MODEST)


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
