"""The state of running labs: a folder each in this user's private runtime folder.

    FOLDER/NAME/lab.json    the hosts, and the process that supervises the lab
    FOLDER/NAME/keeper.lock held as long as that process lives
    FOLDER/NAME/control     the control socket of `advisor lab set`, `status` and others
    FOLDER/NAME/secret      the pairing secret of the agents in it
    FOLDER/NAME/log         messages of the supervisor and the servers
    FOLDER/NAME/files/HOST  the files of that host's GridFTP server

Of these files nothing is believed that another user could have written, and not the process id of
the supervisor: the kernel names the process that listens at the control socket.

The kernel has no names for any of it: namespaces, devices and mounts end with the processes in
them.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import msgspec
from filelock import FileLock

from advisor.domain.problem import ProblemError, ProblemKind
from advisor.hosts.decoding import BadData, decoded
from advisor.hosts.private_folders import (
    NotPrivate,
    present_runtime_folder,
    private_file,
    private_folder,
    read_private,
    runtime_folder,
)

AGENT_PORT: Final = 5199
MARK: Final = "ADVISOR_LAB"
"""The environment variable that identifies processes of a lab: the kernel reuses the numbers of
processes and namespaces."""

_LOOK_S: Final = 2.0
_TERM_S: Final = 1.0
_GONE_S: Final = 6.0
_OTHERS_S: Final = 30.0
_ANSWER_S: Final = 2.0
_STATE_BYTES: Final = 1 << 20
_LAST_WORDS_BYTES: Final = 1 << 16
_CREDENTIALS: Final = struct.Struct("3i")
_Word = Annotated[str, msgspec.Meta(min_length=1, max_length=255)]
_Network = Annotated[str, msgspec.Meta(max_length=64, pattern=r"^/proc/[0-9]+/fd/[0-9]+\Z")]


class LabError(ProblemError):
    """A lab cannot do what was requested; the message is one sentence with the remedy."""


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """A host of a lab.

    `network`: the path of its network namespace, held open by the supervisor. `gridftp_url`: None
    without a server. On all hosts except the source an agent listens at AGENT_PORT.
    """

    name: _Word
    address: _Word
    network: _Network
    gridftp_url: _Word | None = None


class StoredLab(msgspec.Struct, frozen=True, kw_only=True):
    """A lab as its file describes it. The first host is the source.

    `mark`: in the environment of all its processes. `user_namespace`: whether it has one of its
    own, which needs no privileges on this machine. `backend`: what emulates the paths. `mesh`:
    whether the other hosts reach each other as well.
    """

    name: _Word
    mark: _Word
    user_namespace: bool
    backend: _Word
    hosts: Annotated[list[Host], msgspec.Meta(min_length=1, max_length=256)]
    mesh: bool = False


_STORED: Final = msgspec.json.Decoder(StoredLab)


class LabState(StoredLab, frozen=True, kw_only=True):
    """A running lab.

    `supervisor`: the process that listens at its control socket; 0 if there is none. Then its
    networks cannot be entered, and the paths of them are not to be used.
    """

    supervisor: int

    @contextlib.contextmanager
    def held_networks(self) -> Iterator[set[int]]:
        """The inodes of its network namespaces, as far as its supervisor holds them open.

        They are held open here too, so that no other namespace gets their numbers meanwhile.
        """
        found = set()
        namespaces = Path("/proc/self/ns/net").stat().st_dev
        with contextlib.ExitStack() as held:
            for host in self.hosts if self.supervisor else ():
                with contextlib.suppress(OSError):
                    # Only a reference: the namespace may already be another's.
                    network = os.open(host.network, os.O_PATH)
                    held.callback(os.close, network)
                    status = os.fstat(network)
                    if status.st_dev == namespaces:
                        found.add(status.st_ino)
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
            raise LabError(f"lab {self.name} has several hosts", remedy=f"say which of {known}")
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
        self.folder = _present_folder() / name
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
        """Create the folder, for its owner only. Raises LabError."""
        try:
            private_folder(self.folder)
        except NotPrivate as error:
            raise LabError.about("", error) from None

    def write(self, state: StoredLab) -> None:
        """Store the state atomically. Raises OSError."""
        fresh = self._state.with_suffix(".new")
        fresh.touch(0o600)
        fresh.write_bytes(msgspec.json.encode(state))
        fresh.replace(self._state)

    def read(self) -> LabState | None:
        """The state, also of a lab whose supervisor has ended; None without one to be believed."""
        try:
            content = read_private(self._state, _STATE_BYTES)
            stored = decoded(_STORED, content, _STATE_BYTES)
        except (OSError, NotPrivate, BadData):
            return None
        supervisor = self._supervisor()
        networks = f"/proc/{supervisor}/fd/"
        if supervisor and not all(host.network.startswith(networks) for host in stored.hosts):
            return None
        return LabState(**msgspec.structs.asdict(stored), supervisor=supervisor)

    def connected(self) -> socket.socket:
        """A connection to the supervisor's control socket. Raises OSError."""
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.settimeout(_ANSWER_S)
            with self.short_control() as control:
                connection.connect(control)
        except BaseException:
            connection.close()
            raise
        return connection

    @contextlib.contextmanager
    def short_control(self) -> Iterator[str]:
        """A path of the control socket that is valid in the block, however long its own one is.

        The name of a socket has at most 107 bytes. Raises OSError.
        """
        folder = os.open(self.folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield f"/proc/self/fd/{folder}/{self.control.name}"
        finally:
            os.close(folder)

    def _supervisor(self) -> int:
        """The process that listens at the control socket, as this user; 0 without one."""
        with contextlib.suppress(OSError), self.connected() as connection:
            found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
            pid, uid, _ = _CREDENTIALS.unpack(found)
            return pid if uid == os.geteuid() else 0
        return 0

    @property
    def is_up(self) -> bool:
        """Whether its supervisor is running."""
        try:
            descriptor = os.open(self.lock.lock_file, os.O_RDONLY | os.O_NOFOLLOW)
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
        with contextlib.suppress(OSError, NotPrivate), private_file(self.log) as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - _LAST_WORDS_BYTES))
            lines = log.read(_LAST_WORDS_BYTES).decode(errors="replace").strip().splitlines()
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


def _present_folder() -> Path:
    """The folder of the labs, which may be missing. Raises LabError if it is not to be believed."""
    try:
        return present_runtime_folder("lab")
    except NotPrivate as error:
        raise LabError.about("", error) from None


def only_one() -> FileLock:
    """The lock for starting or stopping a lab. Raises LabError."""
    try:
        return FileLock(runtime_folder("lab") / "lock", timeout=_OTHERS_S)
    except NotPrivate as error:
        raise LabError.about("", error) from None


def labs() -> list[LabFolder]:
    """All labs of this user, by name, including those whose supervisor has ended."""
    with contextlib.suppress(OSError, LabError):
        return [LabFolder(e.name) for e in sorted(_present_folder().iterdir()) if e.is_dir()]
    return []


def state_of(name: str) -> LabState:
    """The state of a lab that is up. Raises LabError with the remedy."""
    place = LabFolder(name)
    state = place.read()
    if state is None or not place.is_up:
        others = ", ".join(other.name for other in labs() if other.is_up)
        up = f"advisor lab up {name}"
        raise LabError(
            f"no lab '{name}' is up",
            remedy=f"'{up}' starts it" + (f"; up now: {others}" if others else ""),
            command=up,
            kind=ProblemKind.MISSING,
        )
    if not state.supervisor:
        raise silent(name)
    return state


def silent(name: str) -> LabError:
    """The error for a lab whose supervisor does not answer."""
    down = f"advisor lab down {name}"
    return LabError(f"lab {name} does not answer", remedy=f"'{down}' takes it down", command=down)


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
        asks = time.monotonic() < began_s + _TERM_S
        for pid in found - asked if asks else found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGTERM if asks else signal.SIGKILL)
        asked |= found
        time.sleep(0.02)
