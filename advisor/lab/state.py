"""The state of running labs: a folder each in the user's runtime directory.

    FOLDER/NAME/lab.json    the hosts, and the process that supervises the lab
    FOLDER/NAME/keeper.lock held as long as that process lives
    FOLDER/NAME/control     the control socket of `advisor lab set`, `status` and others
    FOLDER/NAME/secret      the pairing secret of the agents in it
    FOLDER/NAME/log         messages of the supervisor and the servers
    FOLDER/NAME/files/HOST  the files of that host's GridFTP server

The kernel has no names for any of it: namespaces, devices and mounts end with the processes in
them.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
from filelock import FileLock

AGENT_PORT: Final = 5199
MARK: Final = "ADVISOR_LAB"
"""The environment variable that identifies processes of a lab: the kernel reuses the numbers of
processes and namespaces."""

_LOOK_S: Final = 2.0
_PATIENCE_S: Final = 1.0
_GONE_S: Final = 6.0
_OTHERS_S: Final = 30.0


class LabError(Exception):
    """A lab cannot do what was requested; the message is one sentence with the remedy."""


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """A host of a lab.

    `network`: the path of its network namespace, held open by the supervisor. `gridftp_url`: None
    without a server. On all hosts except the source an agent listens at AGENT_PORT.
    """

    name: str
    address: str
    network: str
    gridftp_url: str | None = None


class LabState(msgspec.Struct, frozen=True, kw_only=True):
    """A running lab. The first host is the source.

    `mark`: in the environment of all its processes. `supervisor`: its process id.
    `user_namespace`: whether it has one of its own, which needs no privileges on this machine.
    `backend`: what emulates the paths.
    """

    name: str
    mark: str
    supervisor: int = msgspec.field(name="keeper")  # The name in the files of running labs.
    user_namespace: bool
    backend: str
    hosts: list[Host]

    @contextlib.contextmanager
    def held_networks(self) -> Iterator[set[int]]:
        """The inodes of its network namespaces, as far as its supervisor holds them open.

        They are held open here too, so that no other namespace gets their numbers meanwhile.
        """
        found = set()
        with contextlib.ExitStack() as held:
            for host in self.hosts:
                with contextlib.suppress(OSError):
                    # Only a reference: the namespace may already be another's.
                    network = os.open(host.network, os.O_PATH)
                    held.callback(os.close, network)
                    found.add(os.fstat(network).st_ino)
            yield found

    @property
    def source(self) -> Host:
        """The host where transfers start."""
        return self.hosts[0]

    def far(self, name: str | None = None) -> Host:
        """The host of that name; without a name, the only one. Raises LabError."""
        others = self.hosts[1:]
        known = ", ".join(host.name for host in others)
        if name is None and len(others) == 1:
            return others[0]
        if name is None:
            raise LabError(f"lab {self.name} has several hosts: say which of {known}")
        for host in others:
            if host.name == name:
                return host
        raise LabError(f"lab {self.name} has no host '{name}': it has {known}")

    def host(self, name: str) -> Host:
        """The host of that name, including the source. Raises LabError."""
        return self.source if name == self.source.name else self.far(name)


class LabFolder:
    """The folder of one lab, whether it is up or not."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.folder = _runtime_folder() / name
        self.control = self.folder / "control"
        self.secret = self.folder / "secret"
        self.log = self.folder / "log"
        self.names = self.folder / "hosts"
        # A process that checks for a supervisor holds it briefly.
        self.lock = FileLock(self.folder / "keeper.lock", timeout=_LOOK_S, thread_local=False)
        self._state = self.folder / "lab.json"

    def files(self, host: str) -> Path:
        """The files of a host's GridFTP server."""
        return self.folder / "files" / host

    def make(self) -> None:
        """Create the folder, for its owner only. Raises OSError."""
        self.folder.mkdir(parents=True, mode=0o700)

    def write(self, state: LabState) -> None:
        """Store the state atomically. Raises OSError."""
        fresh = self._state.with_suffix(".new")
        fresh.write_bytes(msgspec.json.encode(state))
        fresh.replace(self._state)

    def read(self) -> LabState | None:
        """The state, also of a lab whose supervisor has ended; None without one."""
        try:
            return msgspec.json.decode(self._state.read_bytes(), type=LabState)
        except (OSError, msgspec.MsgspecError):
            return None

    @property
    def is_up(self) -> bool:
        """Whether its supervisor is running."""
        try:
            descriptor = os.open(self.lock.lock_file, os.O_RDONLY)
        except OSError:
            return False
        try:
            # Shared: two simultaneous checks must not mistake each other for the supervisor.
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def last_words(self) -> str:
        """The last line of its log; empty without one."""
        with contextlib.suppress(OSError):
            lines = self.log.read_text(errors="replace").strip().splitlines()
            return lines[-1] if lines else ""
        return ""

    def remove(self) -> None:
        """End everything that still runs in the lab's namespaces, and delete its folder."""
        state = self.read()
        if state is not None:
            with state.held_networks() as networks:
                # The paths contain the supervisor's process id, which is reused once it has ended.
                end_all(state.mark, networks if self.is_up else set())
        shutil.rmtree(self.folder, ignore_errors=True)


def _runtime_folder() -> Path:
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime:
        return Path(runtime) / "advisor" / "lab"
    return Path(tempfile.gettempdir()) / f"advisor-{os.getuid()}" / "lab"


def only_one() -> FileLock:
    """The lock for starting or stopping a lab. Raises LabError."""
    folder = _runtime_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise LabError(f"{folder}: {error.strerror}") from None
    return FileLock(folder / "lock", timeout=_OTHERS_S)


def labs() -> list[LabFolder]:
    """All labs of this user, by name, including those whose supervisor has ended."""
    with contextlib.suppress(OSError):
        return [LabFolder(e.name) for e in sorted(_runtime_folder().iterdir()) if e.is_dir()]
    return []


def state_of(name: str) -> LabState:
    """The state of a lab that is up. Raises LabError with the remedy."""
    place = LabFolder(name)
    state = place.read()
    if state is None or not place.is_up:
        others = ", ".join(other.name for other in labs() if other.is_up)
        remedy = f"'advisor lab up {name}' starts it" + (f"; up now: {others}" if others else "")
        raise LabError(f"no lab '{name}' is up: {remedy}")
    return state


def _inside(mark: str, networks: set[int]) -> Iterator[int]:
    """The processes with the mark in their environment, and those in one of the networks."""
    entry = f"{MARK}={mark}".encode()
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        with contextlib.suppress(OSError):  # Ended, or another user's.
            marked = entry in (folder / "environ").read_bytes().split(b"\0")
            if marked or (folder / "ns" / "net").stat().st_ino in networks:
                yield int(folder.name)


def end_all(mark: str, networks: set[int]) -> None:
    """End all processes of a lab except this one, and wait until they have ended."""
    began_s = time.monotonic()
    asked: set[int] = set()
    while time.monotonic() < began_s + _GONE_S:
        found = {pid for pid in _inside(mark, networks) if pid != os.getpid()}
        if not found:
            return
        patient = time.monotonic() < began_s + _PATIENCE_S
        for pid in found - asked if patient else found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGTERM if patient else signal.SIGKILL)
        asked |= found
        time.sleep(0.02)
