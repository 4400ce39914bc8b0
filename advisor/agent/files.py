"""File operations of an agent for an advisor: inspect, measure, move into place, remove.

A path is resolved, checked against the folders the agent was given, and then opened folder by
folder without following links: a link created in the meantime leads nowhere.
"""

import contextlib
import ctypes
import errno
import functools
import os
import posixpath
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from advisor.agent import messages as m
from advisor.agent import target_messages as t
from advisor.agent.turn import Turn
from advisor.domain.file_io import Filesystem, is_claim_name
from advisor.domain.problem import ProblemError, ProblemKind
from advisor.hosts import scratch
from advisor.hosts.checksums import Reading, checksum_of, in_thread, reason_of
from advisor.hosts.file_io import FileIoError, run_file_io
from advisor.hosts.filesystems import filesystem_of, set_stripes

_SHOWN_LENGTH: Final = 200
_FOLDER_FLAGS: Final = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Non-blocking: opening a pipe would wait for a writer.
_FILE_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_RENAME_NOREPLACE: Final = 1
# The folders created for it would belong to this account, but the other one must write there next.
_OF_ANOTHER: Final = "it belongs to another account than the agent's: the server's"
_libc: Final = ctypes.CDLL(None, use_errno=True)


class FilesRefused(ProblemError):
    """The request is not allowed, or failed; the message is one sentence."""

    kind = ProblemKind.NO_ACCESS


class OutOfTarget(FilesRefused):
    """A link on the way leads out of the claimed target."""


class FileRights:
    """Where an advisor may inspect and change files. None: wherever this account may."""

    def __init__(self, folders: Sequence[Path] | None) -> None:
        self._folders = (
            None if folders is None else [posixpath.abspath(folder) for folder in folders]
        )

    def resolved(self, path: str, asked: str | None = None) -> str:
        """The path without links. Raises FilesRefused if it leads out of the folders.

        The refusal is about the path that was `asked` for, and does not depend on what exists
        outside of them: what is plainly outside is not looked at.
        """
        if self._folders is None:
            return posixpath.realpath(path)
        if not self._folders:
            raise FilesRefused(
                "the agent was not given any files",
                remedy="start it with --files FOLDER and --listen",
            )
        # Resolve again each time: a folder may be created after the agent was started.
        roots = [posixpath.realpath(folder) for folder in self._folders]
        plain = posixpath.normpath("/" + path.lstrip("/"))
        if _is_within([*self._folders, *roots], plain):
            found = posixpath.realpath(plain)
            if _is_within(roots, found):
                return found
        raise FilesRefused(
            f"{_shown(asked or path)} is in none of the folders given to the agent with --files",
            remedy="start it with one that contains it",
        )


def _is_within(roots: Sequence[str], path: str) -> bool:
    return any(posixpath.commonpath((root, path)) == root for root in roots)


ANYWHERE: Final = FileRights(None)
NOWHERE: Final = FileRights(())


def _shown(path: str) -> str:
    """The path, shortened for a sentence."""
    if len(path) <= _SHOWN_LENGTH:
        return path
    return f"{path[: _SHOWN_LENGTH // 2]}…{path[-_SHOWN_LENGTH // 2 :]}"


def _refused(path: str, error: OSError) -> FilesRefused:
    return FilesRefused(f"{_shown(path)} on the agent's side: {error.strerror or error}")


def _unseen(_: int, __: str) -> None:
    """What is passed on the way to a folder does not matter."""


@contextlib.contextmanager
def opened_folder(
    folder: str, *, make: bool = False, entered: Callable[[int, str], None] = _unseen
) -> Iterator[int]:
    """Open a resolved folder for calls relative to it; `make` creates missing folders.

    `entered` is called with each open folder on the way and its name. Raises OSError, also if one
    of the names has become a link.
    """
    current = os.open("/", _FOLDER_FLAGS)
    try:
        for name in filter(None, folder.split("/")):
            # Assigned before it is closed: Ctrl-C may come between, and nothing is closed twice.
            above, current = current, _entered(current, name, make=make)
            os.close(above)
            entered(current, name)
        yield current
    finally:
        os.close(current)


def _entered(folder: int, name: str, *, make: bool) -> int:
    try:
        return os.open(name, _FOLDER_FLAGS, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
    with contextlib.suppress(FileExistsError):  # Created by another process meanwhile.
        os.mkdir(name, dir_fd=folder)
    return os.open(name, _FOLDER_FLAGS, dir_fd=folder)


def _nearest(path: str) -> str:
    """The path, or the nearest existing folder above it."""
    above = posixpath.abspath(path)
    while not posixpath.isdir(above):
        above = posixpath.dirname(above)
    return above


def _existing(rights: FileRights, path: str) -> str:
    """The resolved path, or the nearest existing folder above it. Raises FilesRefused."""
    return rights.resolved(_nearest(rights.resolved(path)), asked=path)


def open_file(rights: FileRights, path: str) -> BinaryIO:
    """Open the regular file that a path leads to. Raises FilesRefused, OSError."""
    return open_at(*posixpath.split(rights.resolved(path)))


def open_at(folder: str, name: str) -> BinaryIO:
    """Open a regular file in a resolved folder for reading. Raises OSError, also for a link."""
    with opened_folder(folder) as above:
        try:
            descriptor = os.open(name or ".", _FILE_FLAGS, dir_fd=above)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise OSError(errno.ELOOP, "a symbolic link, which is not followed") from None
            raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file")
    return os.fdopen(descriptor, "rb")


def folder_of(rights: FileRights, path: str) -> Filesystem:
    """The file system of a folder, or of the nearest existing one above. Raises FilesRefused."""
    folder = _existing(rights, path)
    try:
        return filesystem_of(folder)
    except OSError as error:
        raise _refused(path, error) from None


def sync_file(rights: FileRights, path: str) -> None:
    """Write a file back to the disk, if it is there. Raises FilesRefused."""
    try:
        with open_file(rights, path) as file:
            os.fsync(file.fileno())
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise _refused(path, error) from None


def file_size(rights: FileRights, path: str) -> int | None:
    """The size in bytes, None if the path leads to no regular file. Raises FilesRefused."""
    return size_at(*posixpath.split(rights.resolved(path)))


def size_at(folder: str, name: str) -> int | None:
    """The size in bytes, None if there is no regular file in a folder. Raises FilesRefused."""
    path = Path(folder, name)
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _refused(str(path), error) from None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def make_scratch(rights: FileRights, folder: str, server_port: int = 0, stripes: int = 0) -> str:
    """Create a folder in this one, or in the nearest existing one above. Raises FilesRefused.

    `server_port`: where the server listens that writes in it, -1 if not known; 0: the agent does.
    Only for a server of another account others may enter it. `stripes`: of its new files, on
    Lustre; 0 leaves them to the folder above.
    """
    above = _existing(rights, folder)
    name = scratch.new_name()
    for_all = server_port != 0 and not scratch.is_served_by_this_account(server_port)
    if for_all and not scratch.links_are_protected():
        raise FilesRefused(
            "a server of another account would write in a folder that is open to all, where this "
            "kernel lets it follow anybody's links",
            command="sysctl -w fs.protected_symlinks=1",
        )
    try:
        with opened_folder(above) as parent:
            scratch.make(parent, name, for_all=for_all)
            made = posixpath.join(above, name)
            if stripes:
                try:
                    set_stripes(made, stripes)
                except OSError:
                    scratch.remove(parent, name)
                    raise
    except OSError as error:
        raise _refused(above, error) from None
    return made


def move(rights: FileRights, source: str, target: str) -> str:
    """Move a file of a scratch folder to its place, which must be free; "" or why not.

    Raises FilesRefused.
    """
    try:
        from_folder, from_name = place_of(rights, source)
        to_folder, to_name = place_of(rights, target)
        with _opened_own(from_folder, source) as here:
            status = os.stat(from_name, dir_fd=here, follow_symlinks=False)
            if not stat.S_ISREG(status.st_mode):
                return "not a regular file"
            if status.st_uid != os.geteuid():
                return _OF_ANOTHER
            with opened_folder(to_folder, make=True) as there:
                rename_new(here, from_name, there, to_name)
    except OSError as error:
        return reason_of(error)
    return ""


def scratch_file(rights: FileRights, path: str) -> str:
    """The resolved path of a file that may be written in a scratch folder. Raises FilesRefused.

    A program that opens it later follows links. But in a sticky folder the kernel does not follow
    links of other users (fs.protected_symlinks).
    """
    folder, name = place_of(rights, path)
    try:
        with _opened_own(folder, path) as here:
            status = os.stat(name, dir_fd=here, follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):
            raise FilesRefused(f"{_shown(path)} exists already and is not a regular file")
    except FileNotFoundError:
        pass
    except OSError as error:
        raise _refused(path, error) from None
    return posixpath.join(folder, name)


@contextlib.contextmanager
def _opened_own(folder: str, path: str) -> Iterator[int]:
    """Open a resolved folder that is a scratch folder or in one. Raises FilesRefused, OSError."""
    refused = FilesRefused(f"{_shown(path)} is not in one of the advisor's own folders")
    is_own = False

    def entered(opened: int, name: str) -> None:
        nonlocal is_own
        is_own = is_own or scratch.is_scratch(opened, name)

    with contextlib.ExitStack() as stack:
        try:
            found = stack.enter_context(opened_folder(folder, entered=entered))
        except OSError as error:
            raise (error if is_own else refused) from None
        if not is_own:
            raise refused
        yield found


def place_of(rights: FileRights, path: str) -> tuple[str, str]:
    """The resolved folder and the name in it, which is not resolved. Raises FilesRefused."""
    name = posixpath.basename(path)
    if name in ("", ".", "..", scratch.MARK) or is_claim_name(name):
        raise FilesRefused(f"{_shown(path)} does not name a file that may be written")
    return unfollowed(rights, path)


def unfollowed(rights: FileRights, path: str) -> tuple[str, str]:
    """The resolved folder and the name in it, which is not resolved. Raises FilesRefused."""
    above, name = posixpath.split(path)
    return rights.resolved(above), name


def rename_new(here: int, name: str, there: int, new_name: str) -> None:
    """Rename between open folders. Raises OSError, FileExistsError if the new name is taken."""
    old, new = os.fsencode(name), os.fsencode(new_name)
    if not _libc.renameat2(here, old, there, new, _RENAME_NOREPLACE):
        return
    number = ctypes.get_errno()
    if number not in (errno.EINVAL, errno.ENOSYS):
        raise OSError(number, os.strerror(number))
    # NFS and others do not support it, but a hard link never replaces an existing file.
    os.link(name, new_name, src_dir_fd=here, dst_dir_fd=there, follow_symlinks=False)
    os.unlink(name, dir_fd=here)


def change_mode(folder: int, name: str, mode: int) -> None:
    """Set the permission bits of what has this name in an open folder.

    Raises OSError, also for a link.
    """
    handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        # A handle like this needs no right to read the file, and fchmod() does not take it.
        Path(f"/proc/self/fd/{handle}").chmod(mode)
    finally:
        os.close(handle)


def remove_scratch(rights: FileRights, folder: str) -> None:
    """Remove a scratch folder completely, if it still exists. Raises FilesRefused."""
    above, name = place_of(rights, folder.rstrip("/"))
    try:
        with opened_folder(above) as parent:
            failures = scratch.remove(parent, name)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _refused(folder, error) from None
    if failures:
        raise FilesRefused(
            f"{_shown(folder)} could not be removed completely "
            f"({failures[0].strerror or failures[0]})",
            remedy="remove it as the account that owns the files in it",
        )


class TransferWork(Protocol):
    """The part of a conversation that is about the target of a transfer."""

    def answer(self, request: t.Delivery, reading: Reading) -> m.Reply:
        """The reply. Blocks. Raises FilesRefused, ReadingStopped."""

    def in_target(self, path: str) -> tuple[str, str] | None:
        """The resolved folder and the name of a path of the claimed target; None for any other.

        Raises OutOfTarget, FilesRefused.
        """


class FileWork:
    """One request on files in progress. `seen_bytes`: bytes read for it so far.

    `made` is told of each scratch folder as soon as it exists, in the thread that made it, whether
    or not somebody still waits for the reply.
    """

    def __init__(
        self, rights: FileRights, turn: Turn, transfer: TransferWork, made: Callable[[str], None]
    ) -> None:
        self._rights = rights
        self._turn = turn
        self._transfer = transfer
        self._made = made
        self.seen_bytes = 0

    async def result(self, request: m.Work) -> m.Reply:
        """The reply that ends the request. Cancelling ends what it started."""
        try:
            if isinstance(request, m.RunFileIo):
                return await self._file_io(request)
            return await in_thread(functools.partial(self._done, request), self._seen)
        except (FilesRefused, FileIoError) as error:
            return m.Refused(message=str(error))

    def _seen(self, count: int) -> None:
        self.seen_bytes = count

    async def _file_io(self, request: m.RunFileIo) -> m.Reply:
        folder = self._rights.resolved(request.folder)

        async def awaited(_: int) -> None:
            """Nothing: the advisor knows that the agent is at work, which is enough."""

        try:
            async with self._turn.taken(awaited):
                return m.FileIoMeasured(result=await run_file_io(folder, request.job))
        except OSError as error:
            raise _refused(request.folder, error) from None

    def _done(self, request: m.Work, reading: Reading) -> m.Reply:
        """All requests that start no process; in a thread, since a file system may block."""
        rights = self._rights
        match request:
            case m.GetFolder(path=path):
                return m.FolderFound(filesystem=folder_of(rights, path))
            case m.GetSizes(paths=paths):
                return m.SizesFound(sizes=[self._size(path) for path in reading.each(paths)])
            case m.SyncFiles(paths=paths):
                began_s = time.monotonic()
                for path in reading.each(paths):
                    sync_file(rights, path)
                return m.FilesSynced(elapsed_s=time.monotonic() - began_s)
            case m.GetChecksums(paths=paths):
                openings = [functools.partial(self._open, path) for path in paths]
                checksums = [checksum_of(opening, reading) for opening in openings]
                return m.ChecksumsFound(checksums=checksums, seen_bytes=reading.seen_bytes)
            case m.MakeScratch(folder=folder, server_port=port, stripes=stripes):
                made = make_scratch(rights, folder, port, stripes)
                self._made(made)
                return m.ScratchMade(folder=made)
            case m.MoveFiles(pairs=pairs):
                return m.FilesMoved(reasons=[move(rights, *pair) for pair in reading.each(pairs)])
            case m.RemoveScratch(folder=folder):
                remove_scratch(rights, folder)
                return m.ScratchRemoved()
            case m.RunFileIo():
                raise ValueError("measured outside of threads")
            case _:
                return self._transfer.answer(request, reading)

    def _size(self, path: str) -> int | None:
        try:
            place = self._transfer.in_target(path)
        except OutOfTarget:
            return None
        return size_at(*place) if place else file_size(self._rights, path)

    def _open(self, path: str) -> BinaryIO:
        try:
            place = self._transfer.in_target(path)
        except OutOfTarget:
            raise OSError(errno.ELOOP, "it leads out of the claimed target") from None
        return open_at(*place) if place else open_file(self._rights, path)
