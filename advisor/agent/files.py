"""What an agent does with files for an advisor: looks at them, measures, puts in place, removes.

A path is resolved, held against the folders the agent was given, and then walked folder by folder
without following a link: one that is put there meanwhile leads nowhere.
"""

import contextlib
import ctypes
import errno
import functools
import os
import posixpath
import secrets
import shutil
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final

from advisor.agent import messages as m
from advisor.agent.turn import Turn
from advisor.domain.file_io import SCRATCH_PREFIX, Filesystem
from advisor.hosts.checksums import Reading, checksum_of, in_thread, reason_of
from advisor.hosts.file_io import FileIoError, run_file_io
from advisor.hosts.filesystems import filesystem_of

_SHOWN_LENGTH: Final = 200
_FOLDER_FLAGS: Final = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Not blocking: to open a pipe would wait for somebody to write into it.
_FILE_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# As the GridFTP server may run under any account. Sticky: what one made, no other removes.
_SCRATCH_MODE: Final = 0o1777
_RENAME_NOREPLACE: Final = 1
# The folders made for it would be this account's, and the other one's next file has to go there.
_OF_ANOTHER: Final = "it belongs to another account than the agent's, which is the server's"
_libc: Final = ctypes.CDLL(None, use_errno=True)


class FilesRefused(Exception):
    """What was asked is not allowed, or cannot be done; the message is one sentence."""


class FileRights:
    """Where an advisor may have files looked at and changed. None: wherever this account may."""

    def __init__(self, folders: Sequence[Path] | None) -> None:
        self._folders = None if folders is None else [str(folder) for folder in folders]

    def resolved(self, path: str) -> str:
        """The path without links in it. Raises FilesRefused where it leads out of the folders."""
        found = posixpath.realpath(path)
        if self._folders is None:
            return found
        if not self._folders:
            raise FilesRefused(
                "the agent was not given any files: start it with --files FOLDER beside --listen"
            )
        # Resolved anew each time: a folder may be made after the agent was started.
        roots = (posixpath.realpath(folder) for folder in self._folders)
        if any(posixpath.commonpath((root, found)) == root for root in roots):
            return found
        raise FilesRefused(
            f"{_shown(path)} is in no folder that the agent was given with --files: start it with "
            "one that holds it"
        )


ANYWHERE: Final = FileRights(None)
NOWHERE: Final = FileRights(())


def _shown(path: str) -> str:
    """The path as a sentence can have it."""
    if len(path) <= _SHOWN_LENGTH:
        return path
    return f"{path[: _SHOWN_LENGTH // 2]}…{path[-_SHOWN_LENGTH // 2 :]}"


def _refused(path: str, error: OSError) -> FilesRefused:
    return FilesRefused(f"{_shown(path)} on the agent's side: {error.strerror or error}")


@contextlib.contextmanager
def _opened(folder: str, *, make: bool = False) -> Iterator[int]:
    """A resolved folder, for calls that take one; with `make` what is missing is made.

    Raises OSError, also where one of its names is a link by now.
    """
    current = os.open("/", _FOLDER_FLAGS)
    try:
        for name in filter(None, folder.split("/")):
            following = _entered(current, name, make=make)
            os.close(current)
            current = following
        yield current
    finally:
        os.close(current)


def _entered(folder: int, name: str, *, make: bool) -> int:
    try:
        return os.open(name, _FOLDER_FLAGS, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
    with contextlib.suppress(FileExistsError):  # Made by another meanwhile.
        os.mkdir(name, dir_fd=folder)
    return os.open(name, _FOLDER_FLAGS, dir_fd=folder)


def _nearest(path: str) -> str:
    """The path, or the nearest folder above it that is there."""
    above = posixpath.abspath(path)
    while not posixpath.isdir(above):
        above = posixpath.dirname(above)
    return above


def open_file(rights: FileRights, path: str) -> BinaryIO:
    """A regular file, to read. Raises FilesRefused, OSError."""
    above, name = posixpath.split(rights.resolved(path))
    with _opened(above) as folder:
        descriptor = os.open(name or ".", _FILE_FLAGS, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "no regular file")
    return os.fdopen(descriptor, "rb")


def folder_of(rights: FileRights, path: str) -> Filesystem:
    """What holds a folder, or the nearest above it that is there. Raises FilesRefused."""
    folder = _nearest(path)
    rights.resolved(folder)
    try:
        return filesystem_of(folder)
    except OSError as error:
        raise _refused(path, error) from None


def size_of(rights: FileRights, path: str) -> int | None:
    """In bytes, None where there is no regular file. Raises FilesRefused."""
    try:
        status = Path(rights.resolved(path)).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _refused(path, error) from None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def make_scratch(rights: FileRights, folder: str) -> str:
    """A new folder in this one, or in the nearest above that is there. Raises FilesRefused."""
    above = _nearest(folder)
    name = f"{SCRATCH_PREFIX}{secrets.token_hex(8)}"
    try:
        with _opened(rights.resolved(above)) as parent:
            os.mkdir(name, 0o700, dir_fd=parent)
            made = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
            try:
                os.fchmod(made, _SCRATCH_MODE)
            finally:
                os.close(made)
    except OSError as error:
        raise _refused(above, error) from None
    return posixpath.join(above, name)


def move(rights: FileRights, source: str, target: str) -> str:
    """Put a file of a scratch folder at its place, where nothing may be; "" or why it was not.

    Raises FilesRefused.
    """
    try:
        from_folder, from_name = _place(rights, source)
        to_folder, to_name = _place(rights, target)
        _check_own(from_folder, source)
        with _opened(from_folder) as here:
            status = os.stat(from_name, dir_fd=here, follow_symlinks=False)
            if not stat.S_ISREG(status.st_mode):
                return "no regular file"
            if status.st_uid != os.geteuid():
                return _OF_ANOTHER
            with _opened(to_folder, make=True) as there:
                _rename(here, from_name, there, to_name)
    except OSError as error:
        return reason_of(error)
    return ""


def scratch_file(rights: FileRights, path: str) -> str:
    """The resolved path of a file that may be written in a scratch folder. Raises FilesRefused.

    A program that opens it later follows links. But in a sticky folder the kernel follows none that
    another user made (fs.protected_symlinks).
    """
    folder, name = _place(rights, path)
    _check_own(folder, path)
    own = Path(folder, name)
    try:
        if not stat.S_ISREG(own.lstat().st_mode):
            raise FilesRefused(f"{_shown(path)} is there already, and no regular file")
    except FileNotFoundError:
        pass
    except OSError as error:
        raise _refused(path, error) from None
    return str(own)


def _check_own(folder: str, path: str) -> None:
    if not any(name.startswith(SCRATCH_PREFIX) for name in folder.split("/")):
        raise FilesRefused(f"{_shown(path)} is in no folder of the advisor's own")


def _place(rights: FileRights, path: str) -> tuple[str, str]:
    """The resolved folder and the name in it, which is not followed. Raises FilesRefused."""
    above, name = posixpath.split(path)
    if name in ("", ".", ".."):
        raise FilesRefused(f"{_shown(path)} names no file")
    return rights.resolved(above), name


def _rename(here: int, name: str, there: int, new_name: str) -> None:
    """Raises OSError, FileExistsError where there is something under the new name."""
    old, new = os.fsencode(name), os.fsencode(new_name)
    if not _libc.renameat2(here, old, there, new, _RENAME_NOREPLACE):
        return
    number = ctypes.get_errno()
    if number not in (errno.EINVAL, errno.ENOSYS):
        raise OSError(number, os.strerror(number))
    # NFS and others cannot, but a hard link is never made over what is there.
    os.link(name, new_name, src_dir_fd=here, dst_dir_fd=there, follow_symlinks=False)
    os.unlink(name, dir_fd=here)


def remove_scratch(rights: FileRights, folder: str) -> None:
    """Remove a scratch folder whole; it may be gone already. Raises FilesRefused."""
    above, name = _place(rights, folder.rstrip("/"))
    if not name.startswith(SCRATCH_PREFIX):
        raise FilesRefused(f"{_shown(folder)} is no folder of the advisor's own: it is left alone")
    failures: list[OSError] = []

    def failed(_: object, __: object, error: tuple[type, BaseException, object]) -> None:
        if isinstance(error[1], OSError) and not isinstance(error[1], FileNotFoundError):
            failures.append(error[1])

    try:
        with _opened(above) as parent:
            shutil.rmtree(name, dir_fd=parent, onerror=failed)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _refused(folder, error) from None
    if failures:
        raise FilesRefused(
            f"{_shown(folder)} could not be removed whole ({failures[0].strerror or failures[0]}): "
            "remove it as the account that the files in it belong to"
        )


class FileWork:
    """One request on files, while it is under way. `seen_bytes`: what was read for it so far."""

    def __init__(self, rights: FileRights, turn: Turn) -> None:
        self._rights = rights
        self._turn = turn
        self.seen_bytes = 0

    async def result(self, request: m.Work) -> m.Reply:
        """The reply that ends it. Cancelled, it ends what it started."""
        try:
            if isinstance(request, m.RunFileIo):
                return await self._file_io(request)
            return await in_thread(functools.partial(self._done, request), self._seen)
        except (FilesRefused, FileIoError) as error:
            return m.Refused(message=str(error)[:1024])

    def _seen(self, count: int) -> None:
        self.seen_bytes = count

    async def _file_io(self, request: m.RunFileIo) -> m.Reply:
        folder = self._rights.resolved(request.folder)

        async def awaited(_: int) -> None:
            """Who asked hears that the agent is at work, which is enough."""

        try:
            async with self._turn.taken(awaited):
                return m.FileIoMeasured(result=await run_file_io(folder, request.job))
        except OSError as error:
            raise _refused(request.folder, error) from None

    def _done(self, request: m.Work, reading: Reading) -> m.Reply:
        """All but what starts a process; in a thread, since a file system may keep one waiting."""
        rights = self._rights
        match request:
            case m.GetFolder(path=path):
                return m.FolderFound(filesystem=folder_of(rights, path))
            case m.GetSizes(paths=paths):
                return m.SizesFound(sizes=[size_of(rights, path) for path in reading.each(paths)])
            case m.GetChecksums(paths=paths):
                openings = [functools.partial(open_file, rights, path) for path in paths]
                checksums = [checksum_of(opening, reading) for opening in openings]
                return m.ChecksumsFound(checksums=checksums, seen_bytes=reading.seen_bytes)
            case m.MakeScratch(folder=folder):
                return m.ScratchMade(folder=make_scratch(rights, folder))
            case m.MoveFiles(pairs=pairs):
                return m.FilesMoved(reasons=[move(rights, *pair) for pair in reading.each(pairs)])
            case m.RemoveScratch(folder=folder):
                remove_scratch(rights, folder)
                return m.ScratchRemoved()
            case m.RunFileIo():
                raise ValueError("measured outside of threads")
