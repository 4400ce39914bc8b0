"""Locks of files (flock), and file systems without them, such as Lustre without `-o flock`."""

import errno
import fcntl
import os
from pathlib import Path
from typing import Final

_NO_LOCKS: Final = (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK, errno.EINVAL)


def try_lock(handle: int) -> bool | None:
    """Whether an open file is locked now; None where its file system has no locks.

    Raises OSError.
    """
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


def require_locks(file: Path) -> None:
    """Raises OSError (ENOLCK) if the file system of an existing file has no locks.

    What a library does without them depends on its version. For a moment the file may be locked.
    """
    # On NFS only a file that was opened for writing can be locked.
    handle = os.open(file, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if try_lock(handle) is None:
            raise OSError(errno.ENOLCK, "its file system has no locks")
    finally:
        os.close(handle)
