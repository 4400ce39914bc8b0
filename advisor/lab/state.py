"""What is known of the labs that are up: a folder each in the user's runtime directory.

    FOLDER/NAME/lab.json    the hosts, and the process that keeps the lab
    FOLDER/NAME/keeper.lock held for as long as that process lives
    FOLDER/NAME/control     a socket: what `advisor lab set`, `status` and others speak to
    FOLDER/NAME/secret      the pairing secret of the agents in it
    FOLDER/NAME/log         what the keeper and the servers had to say
    FOLDER/NAME/files/HOST  what the GridFTP server of that host offers

The kernel keeps nothing by name: namespaces, devices and mounts end with the processes in them.
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
"""The environment variable by which processes of a lab are known for what they are: numbers of
processes and namespaces are used again by the kernel."""

_LOOK_S: Final = 2.0
_PATIENCE_S: Final = 1.0
_GONE_S: Final = 6.0
_OTHERS_S: Final = 30.0


class LabError(Exception):
    """A lab cannot do what was asked; the message is one sentence with the remedy."""


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """A host of a lab.

    `network`: the path of its network namespace, open in the keeper. `gridftp_url`: None where no
    server runs. On all but the source an agent listens at AGENT_PORT.
    """

    name: str
    address: str
    network: str
    gridftp_url: str | None = None


class LabState(msgspec.Struct, frozen=True, kw_only=True):
    """A lab that is up. The first host is the source.

    `mark`: in the environment of all its processes. `keeper`: the process id of what keeps it.
    `user_namespace`: whether it has one of its own, so that no rights on this machine were needed.
    `backend`: what emulates the paths.
    """

    name: str
    mark: str
    keeper: int
    user_namespace: bool
    backend: str
    hosts: list[Host]

    @contextlib.contextmanager
    def held_networks(self) -> Iterator[set[int]]:
        """The inodes of its network namespaces, as far as its keeper holds them open.

        They are held open here too: no other namespace gets their numbers meanwhile.
        """
        found = set()
        with contextlib.ExitStack() as held:
            for host in self.hosts:
                with contextlib.suppress(OSError):
                    # Only its place: nothing is done to what may be another's by now.
                    network = os.open(host.network, os.O_PATH)
                    held.callback(os.close, network)
                    found.add(os.fstat(network).st_ino)
            yield found

    @property
    def source(self) -> Host:
        """Where transfers start."""
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
        """The host of that name, the source too. Raises LabError."""
        return self.source if name == self.source.name else self.far(name)


class Place:
    """The folder of one lab, whether it is up or not."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.folder = _runtime_folder() / name
        self.control = self.folder / "control"
        self.secret = self.folder / "secret"
        self.log = self.folder / "log"
        self.names = self.folder / "hosts"
        # Whoever looks whether a keeper lives holds it for a moment.
        self.lock = FileLock(self.folder / "keeper.lock", timeout=_LOOK_S, thread_local=False)
        self._state = self.folder / "lab.json"

    def files(self, host: str) -> Path:
        """What the GridFTP server of a host offers."""
        return self.folder / "files" / host

    def make(self) -> None:
        """The folder, for its owner only. Raises OSError."""
        self.folder.mkdir(parents=True, mode=0o700)

    def write(self, state: LabState) -> None:
        """Keep the state, whole or not at all. Raises OSError."""
        fresh = self._state.with_suffix(".new")
        fresh.write_bytes(msgspec.json.encode(state))
        fresh.replace(self._state)

    def read(self) -> LabState | None:
        """The state, also that of a lab whose keeper is gone; None where there is none."""
        try:
            return msgspec.json.decode(self._state.read_bytes(), type=LabState)
        except (OSError, msgspec.MsgspecError):
            return None

    @property
    def is_kept(self) -> bool:
        """Whether its keeper lives."""
        try:
            descriptor = os.open(self.lock.lock_file, os.O_RDONLY)
        except OSError:
            return False
        try:
            # Shared: two that look at the same time do not take each other for the keeper.
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
        """End everything that still runs in the lab's namespaces, and forget it."""
        state = self.read()
        if state is not None:
            with state.held_networks() as networks:
                # The paths name the keeper's process: once it is gone they may be another's.
                end_all(state.mark, networks if self.is_kept else set())
        shutil.rmtree(self.folder, ignore_errors=True)


def _runtime_folder() -> Path:
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime:
        return Path(runtime) / "advisor" / "lab"
    return Path(tempfile.gettempdir()) / f"advisor-{os.getuid()}" / "lab"


def only_one() -> FileLock:
    """What whoever brings a lab up or takes it down has to hold, for a moment. Raises LabError."""
    folder = _runtime_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise LabError(f"{folder}: {error.strerror}") from None
    return FileLock(folder / "lock", timeout=_OTHERS_S)


def labs() -> list[Place]:
    """All labs of this user, by name, also those whose keeper is gone."""
    with contextlib.suppress(OSError):
        return [Place(e.name) for e in sorted(_runtime_folder().iterdir()) if e.is_dir()]
    return []


def state_of(name: str) -> LabState:
    """The state of a lab that is up. Raises LabError with the remedy."""
    place = Place(name)
    state = place.read()
    if state is None or not place.is_kept:
        others = ", ".join(other.name for other in labs() if other.is_kept)
        remedy = f"'advisor lab up {name}' makes it" + (f"; up now: {others}" if others else "")
        raise LabError(f"no lab '{name}' is up: {remedy}")
    return state


def _inside(mark: str, networks: set[int]) -> Iterator[int]:
    """The processes with the mark in their environment, and those in one of the networks."""
    entry = f"{MARK}={mark}".encode()
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        with contextlib.suppress(OSError):  # Gone, or another user's.
            marked = entry in (folder / "environ").read_bytes().split(b"\0")
            if marked or (folder / "ns" / "net").stat().st_ino in networks:
                yield int(folder.name)


def end_all(mark: str, networks: set[int]) -> None:
    """End all processes of a lab, and wait until they are gone; this process is not one."""
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
