"""What makes a folder an advisor's scratch folder, in which it writes, moves and removes.

Its name alone does not: anybody may call a folder `.advisor-notes`. A scratch folder belongs to
this account and holds a mark: a file of that account with the folder's own name in it, written
before anyone else could enter. So a folder that was renamed or copied is none. The name has 128
random bits and no request lists folders: only the advisor that received the name can ask an agent
for it, over any connection and of any agent of the same account that sees the same files.

Who may write in the folder above can replace a scratch folder by another of this account. So what
is done in it is done through the descriptor that passed the check, not by name.
"""

import contextlib
import errno
import os
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from advisor.domain.file_io import SCRATCH_PREFIX

MARK: Final = ".advisor-scratch"
"""The name of the mark. It is neither written nor moved on request."""

_LISTENS: Final = "0A"
_PROTECTED_LINKS: Final = Path("/proc/sys/fs/protected_symlinks")
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# Sticky, so that no account removes another's files.
_FOR_ALL: Final = 0o1777
_TRIES: Final = 20
_PAUSE_S: Final = 0.1


def new_name(purpose: str = "") -> str:
    """A name that nobody can predict. `purpose`: what it begins with after the common prefix."""
    return f"{SCRATCH_PREFIX}{purpose}{secrets.token_hex(16)}"


def make(parent: int, name: str, *, for_all: bool) -> None:
    """Make a marked folder in an open one; `for_all`: other accounts write in it too.

    Raises OSError, and leaves nothing.
    """
    os.mkdir(name, 0o700, dir_fd=parent)
    try:
        made = os.open(name, _READ | os.O_DIRECTORY, dir_fd=parent)
        try:
            _begin(made, name, for_all=for_all)
        finally:
            os.close(made)
    except BaseException:
        with contextlib.suppress(OSError):
            os.rmdir(name, dir_fd=parent)
        raise


def _begin(made: int, name: str, *, for_all: bool) -> None:
    """Mark a new folder. Raises OSError, and leaves it as it was."""
    if os.listdir(made):
        raise OSError(errno.ESTALE, "another folder took the place of a new one")
    try:
        _mark(made, name)
        if for_all:
            os.fchmod(made, _FOR_ALL)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(MARK, dir_fd=made)
        raise


def _mark(folder: int, name: str) -> None:
    if os.fstat(folder).st_uid != os.geteuid():
        raise OSError(errno.ENOTSUP, "this account's folders become another's on its file system")
    handle = os.open(MARK, _WRITE, 0o600, dir_fd=folder)
    try:
        os.write(handle, name.encode())
    finally:
        os.close(handle)


def is_scratch(folder: int, name: str) -> bool:
    """Whether an open folder of this name is a scratch folder of this account."""
    if not name.startswith(SCRATCH_PREFIX) or os.fstat(folder).st_uid != os.geteuid():
        return False
    try:
        handle = os.open(MARK, _READ, dir_fd=folder)
    except OSError:
        return False
    try:
        status = os.fstat(handle)
        is_own = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
        return is_own and os.read(handle, len(name) + 1) == name.encode()
    finally:
        os.close(handle)


@contextlib.contextmanager
def opened(parent: int, name: str) -> Iterator[int]:
    """Open a scratch folder in an open folder. Raises OSError, also for another folder."""
    folder = os.open(name, _READ | os.O_DIRECTORY, dir_fd=parent)
    try:
        if not is_scratch(folder, name):
            raise OSError(errno.EINVAL, "it is not one of the advisor's own folders: it is kept")
        yield folder
    finally:
        os.close(folder)


def remove(parent: int, name: str) -> list[OSError]:
    """Remove a scratch folder in an open one, its mark last; return what could not be removed.

    A server whose client was ended may create files for another moment: they are removed too. What
    remains is still a scratch folder. Raises OSError, FileNotFoundError if it is gone.
    """
    with opened(parent, name) as folder:
        failures: list[OSError] = []
        for _ in range(_TRIES):
            failures = _emptied(folder)
            if any(one.errno != errno.ENOTEMPTY for one in failures):
                return failures
            if failures:
                time.sleep(_PAUSE_S)
                continue
            os.unlink(MARK, dir_fd=folder)
            try:
                _rmdir(parent, name, folder)
            except OSError as error:
                _mark(folder, name)
                if error.errno != errno.ENOTEMPTY:
                    raise
                failures = [error]
                time.sleep(_PAUSE_S)
            else:
                return []
        return failures


def _rmdir(parent: int, name: str, folder: int) -> None:
    """Remove the empty folder of this name if it is the open one. Raises OSError."""
    if not os.path.samestat(os.stat(name, dir_fd=parent, follow_symlinks=False), os.fstat(folder)):
        raise OSError(errno.ESTALE, "it was replaced by another folder while it was removed")
    os.rmdir(name, dir_fd=parent)


def _emptied(folder: int) -> list[OSError]:
    """Remove all but the mark of an open folder; return what could not be removed and why."""
    failures: list[OSError] = []

    def failed(_: object, __: object, error: tuple[type, BaseException, object]) -> None:
        if isinstance(error[1], OSError) and not isinstance(error[1], FileNotFoundError):
            failures.append(error[1])

    with os.scandir(folder) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for below, is_folder in found:
        if is_folder:
            try:
                shutil.rmtree(below, dir_fd=folder, onerror=failed)
            except RecursionError:
                failures.append(OSError(errno.ELOOP, "folders are nested too deep"))
        elif below != MARK:
            try:
                os.unlink(below, dir_fd=folder)
            except OSError as error:
                failed(None, None, (type(error), error, None))
    return failures


def is_served_by_this_account(port: int) -> bool:
    """Whether what listens on a TCP port of this host is this account's, and stays it.

    A server of root's becomes another account, unless it is in a user namespace that has no other.
    """
    listening = _listening(port)
    if not listening or any(owner != os.geteuid() for owner in listening.values()):
        return False
    return os.geteuid() != 0 or all(_is_tied(inode) for inode in listening)


def _listening(port: int) -> dict[str, int]:
    """The owner of each TCP socket that listens there, by the socket's inode."""
    found = {}
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in Path("/proc/self/net", table).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTENS and int(fields[1].rpartition(":")[2], 16) == port:
                    found[fields[9]] = int(fields[7])
    return found


def _is_tied(inode: str) -> bool:
    """Whether every process that has this socket can have no account but this one."""
    maps = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # It has ended meanwhile.
            if any(_target(one) == f"socket:[{inode}]" for one in (process / "fd").iterdir()):
                maps.append((process / "uid_map").read_text().split())
    return bool(maps) and all(one[1:] == [str(os.geteuid()), "1"] for one in maps)


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:  # Closed meanwhile.
        return ""


def links_are_protected() -> bool:
    """Whether the kernel keeps programs from following others' links in a folder for all."""
    try:
        return int(_PROTECTED_LINKS.read_text()) != 0
    except (OSError, ValueError):
        return False
