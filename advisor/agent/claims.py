"""The exclusive right of one transfer to write at a target, held by a locked file.

    FOLDER/.advisor-claim-HASH

lies in the target, or in the nearest existing folder above it; HASH is that of the target without
links. The lock ends with the process that holds it, the file stays until the transfer is complete:
without a lock it marks a transfer that was abandoned. On a file system without locks the file alone
counts: another transfer has to take it over explicitly.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import posixpath
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Final

import msgspec

from advisor.agent.files import FileRights, FilesRefused, opened_folder, rename_new
from advisor.domain.printable import SHOWN
from advisor.domain.problem import ProblemError, ProblemKind
from advisor.hosts.decoding import BadData, decoded

_PREFIX: Final = ".advisor-claim-"
_FORMAT: Final = 1
_NOTE_LIMIT_BYTES: Final = 16 * 1024
_SAME_TRANSFER_S: Final = 45.0
"""How long to wait for the lock of the same transfer: an agent notices a lost peer after 30 s."""

_SEEN_S: Final = 5.0
"""How long a network file system may hide a new file from other hosts, about: those of NFS ask
their server again after three seconds."""

_LOOK_AGAIN_S: Final = 0.2
_NO_LOCKS: Final = (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK, errno.EINVAL)
"""Some parallel file systems are mounted without locks."""

_NOT_FOR_WRITING: Final = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EISDIR)


class ClaimNote(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of the file. `token_hash`: SHA-256 of the secret of the transfer."""

    format: int
    target: Annotated[str, msgspec.Meta(max_length=8192)]
    manifest: Annotated[str, msgspec.Meta(max_length=128)]
    token_hash: Annotated[str, msgspec.Meta(max_length=128)]
    who: Annotated[str, msgspec.Meta(max_length=200, pattern=SHOWN)]
    since_s: Annotated[float, msgspec.Meta(ge=0, le=2**40)]


class Found(msgspec.Struct, frozen=True):
    """A claim's file. `note`: None where it cannot be read. `is_active`: its transfer runs now.

    `has_locks`: otherwise the file system does not show whether it runs.
    """

    note: ClaimNote | None
    is_active: bool
    has_locks: bool


class Taken(ProblemError):
    """Another transfer has the target, or a folder above it, by this file."""

    kind = ProblemKind.BUSY

    def __init__(self, file: Path, found: Found) -> None:
        super().__init__(f"{file} is held by another transfer")
        self.file = file
        self.found = found


class Claim:
    """A held claim. `root`: the target without links; `target`: as it was named.

    `is_resumed`: it continues an earlier claim of the same transfer. `is_joined`: an agent on
    another host holds it.
    """

    def __init__(
        self, target: str, root: str, file: Path, lock: int | None, note: ClaimNote
    ) -> None:
        self.target = target
        self.root = root
        self.note = note
        self.is_resumed = False
        self.is_joined = lock is None
        self._file = file
        self._lock = lock

    @property
    def name(self) -> str:
        """The name of its file."""
        return self._file.name

    def release(self, *, done: bool) -> None:
        """Give it up; `done` also removes the file. Does nothing a second time."""
        if self._lock is None:
            return
        lock, self._lock = self._lock, None
        try:
            if done and _is_at(self._file, lock):
                self._remove()
        finally:
            os.close(lock)

    def _remove(self) -> None:
        with contextlib.suppress(OSError):
            folder = self._file.parent.stat()
            self._file.unlink()
            # The time of the folder is one of the things that a transfer preserves.
            os.utime(self._file.parent, ns=(folder.st_atime_ns, folder.st_mtime_ns))


def claim(
    rights: FileRights,
    target: str,
    manifest: str,
    token: str,
    who: str,
    *,
    take_over: bool = False,
    check: Callable[[], None] = lambda: None,
) -> Claim:
    """Claim a target. Blocks; calls `check` while it waits for an earlier agent of the same
    transfer.

    Raises Taken, FilesRefused.
    """
    root = rights.resolved(target)
    note = ClaimNote(
        format=_FORMAT,
        target=root,
        manifest=manifest,
        token_hash=_hash(token),
        who=who,
        since_s=time.time(),
    )
    deadline_s = time.monotonic() + _SAME_TRANSFER_S
    while True:
        check()
        try:
            return _claimed(target, root, note, take_over=take_over)
        except Taken as error:
            earlier = error.found.note
            is_same = earlier is not None and earlier.token_hash == note.token_hash
            if not (is_same and error.found.is_active) or time.monotonic() > deadline_s:
                raise
        except OSError as error:
            raise FilesRefused(
                f"{target} cannot be claimed for one transfer ({error.strerror or error})",
                remedy="run the agent as the account that owns this folder",
            ) from None
        time.sleep(_LOOK_AGAIN_S)


def joined(
    rights: FileRights,
    target: str,
    token: str,
    since_s: float,
    check: Callable[[], None] = lambda: None,
) -> Claim:
    """A claim that an agent on another host holds on the same file system: for reading alone.

    Blocks; calls `check` while it waits for that host's file to be seen here. `since_s`: of that
    claim, which distinguishes it from one that an earlier run has left on another file system.
    Raises FilesRefused.
    """
    root = rights.resolved(target)
    deadline_s = time.monotonic() + _SEEN_S
    while True:
        check()
        note = _noted(root)
        if note and (note.token_hash, note.since_s) == (_hash(token), since_s):
            return Claim(target, root, Path(_name(root)), None, note)
        if time.monotonic() > deadline_s:
            raise FilesRefused(
                f"{target} here is not on the file system of the other destination nodes",
                remedy="name nodes that have it mounted at the same path",
            )
        time.sleep(_LOOK_AGAIN_S)


def _noted(root: str) -> ClaimNote | None:
    """What the file that claims this target says; None without one."""
    file = _file_of(root)
    if file is None:
        return None
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return _note(handle)
    finally:
        os.close(handle)


def _claimed(target: str, root: str, note: ClaimNote, *, take_over: bool) -> Claim:
    _check_above(root, take_over=take_over)
    if earlier := _file_of(root):
        lock, is_same = _taken_over(earlier, note, take_over=take_over)
        claim = Claim(target, root, earlier, lock, note)
        claim.is_resumed = is_same
        return claim
    file = _nearest_folder(root) / _name(root)
    claim = Claim(target, root, file, _created(file, note), note)
    try:
        # Another may have come in between, with its file in another folder.
        _check_above(root, take_over=take_over)
        if _file_of(root) != file:
            raise Taken(file, Found(None, is_active=True, has_locks=True))
    except BaseException:
        claim.release(done=True)
        raise
    return claim


def _check_above(root: str, *, take_over: bool) -> None:
    """Raises Taken if a folder above is claimed."""
    for above in _folders(posixpath.dirname(root)):
        if file := _file_of(str(above)):
            with _opened(file) as found:
                if found.is_active or not take_over:
                    raise Taken(file, found)


def _taken_over(file: Path, note: ClaimNote, *, take_over: bool) -> tuple[int, bool]:
    """The lock of a claim that replaces an abandoned one, and whether that was of this transfer.

    Raises Taken, OSError.
    """
    with _opened(file) as found:
        earlier = found.note
        is_same = earlier is not None and (
            earlier.token_hash == note.token_hash
            or (earlier.manifest == note.manifest and found.has_locks)
        )
        if found.is_active or not (is_same or take_over):
            raise Taken(file, found)
        return _created(file, note, replace=True), is_same


def _created(file: Path, note: ClaimNote, *, replace: bool = False) -> int:
    """Create the file with its content, locked before it has its name; returns the lock.

    Raises Taken, OSError.
    """
    draft = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
    lock = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        _lock(lock)
        os.write(lock, msgspec.json.encode(note))
        os.fsync(lock)
        if replace:
            draft.replace(file)
        else:
            with opened_folder(str(file.parent)) as folder:
                rename_new(folder, draft.name, folder, file.name)
    except BaseException as error:
        draft.unlink(missing_ok=True)
        os.close(lock)
        if isinstance(error, FileExistsError):
            raise Taken(file, Found(None, is_active=True, has_locks=True)) from None
        raise
    return lock


def _lock(handle: int) -> bool | None:
    """Whether it is locked now; None where the file system has no locks. Raises OSError."""
    try:
        _flock(handle)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno in _NO_LOCKS:
            return None
        raise
    return True


def _flock(handle: int) -> None:
    """Raises OSError."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno != errno.EBADF:
            raise
        # NFSv4 wants a handle for writing, and this account may only read the file. A shared lock
        # conflicts with that of its holder too.
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)


def _handle_of(file: Path) -> int:
    """Open for writing too if this account may, for then NFSv4 can lock it. Raises OSError."""
    flags = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        return os.open(file, os.O_RDWR | flags)
    except OSError as error:
        if error.errno not in _NOT_FOR_WRITING:
            raise
    return os.open(file, os.O_RDONLY | flags)


@contextlib.contextmanager
def _opened(file: Path) -> Iterator[Found]:
    """What an existing file says; it is locked in the block, unless it is active.

    Raises OSError.
    """
    handle = _handle_of(file)
    try:
        locked = _lock(handle)
        # One that was replaced since it was opened was replaced by a locked one.
        is_active = locked is False or not _is_at(file, handle)
        yield Found(_note(handle), is_active=is_active, has_locks=locked is not None)
    finally:
        os.close(handle)


def _note(handle: int) -> ClaimNote | None:
    """What the file says; None for a file that is not a claim, which anyone may have put there."""
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        return None
    try:
        content = os.pread(handle, _NOTE_LIMIT_BYTES, 0)
        return decoded(msgspec.json.Decoder(ClaimNote), content, _NOTE_LIMIT_BYTES)
    except BadData:
        return None


def _is_at(file: Path, handle: int) -> bool:
    try:
        there, here = file.lstat(), os.fstat(handle)
    except OSError:
        return False
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)


def _file_of(root: str) -> Path | None:
    """The file that claims this target, if there is one: in it, or in a folder above."""
    name = _name(root)
    return next((file for folder in _folders(root) if _exists(file := folder / name)), None)


def _exists(file: Path) -> bool:
    try:
        file.lstat()
    except OSError:
        return False
    return True


def _folders(path: str) -> Iterator[Path]:
    """The path and all folders above it."""
    yield Path(path)
    yield from Path(path).parents


def _nearest_folder(root: str) -> Path:
    return next(folder for folder in _folders(root) if folder.is_dir())


def _name(root: str) -> str:
    return f"{_PREFIX}{_hash(root)[:16]}"


def _hash(text: str) -> str:
    return hashlib.sha256(os.fsencode(text)).hexdigest()


def is_claim(name: str) -> bool:
    """Whether a file of this name is a claim's."""
    return name.startswith(_PREFIX)
