"""A lock among all users of a host that no user can plant, replace or leave behind.

It is an abstract Unix socket: a name of the kernel's, not of a file system. Whoever binds it first
has it, and it is free as soon as that process ends. Every user may bind it, so that a stranger can
hold it: who waits for it has to bound the wait. The kernel knows which user has it. The name is
one per network namespace, as is a network path.
"""

import contextlib
import errno
import os
import socket
import struct
from typing import Final

_CREDENTIALS: Final = struct.Struct("3i")
# Connections of those who ask for the holder stay in the queue: nobody accepts them.
_ASKING: Final = 1024


class HostLock:
    """The lock of this name. One process may have several of them; only one is held at a time."""

    def __init__(self, name: str) -> None:
        self._address = b"\0" + os.fsencode(name)
        self._held: socket.socket | None = None

    @property
    def is_held(self) -> bool:
        """Whether this object holds it."""
        return self._held is not None

    def acquire(self) -> bool:
        """Take the lock; return whether it is held now. Raises OSError where it cannot be used."""
        if self._held is not None:
            return True
        mine = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            mine.bind(self._address)
            mine.listen(_ASKING)
        except OSError as error:
            mine.close()
            if error.errno == errno.EADDRINUSE:
                return False
            raise
        self._held = mine
        return True

    def release(self) -> None:
        """Give it up, if it is held."""
        held, self._held = self._held, None
        if held is not None:
            held.close()

    def holder(self) -> int | None:
        """The user id of the present holder; None if there is none, or it does not let itself be
        asked."""
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as asking:
            asking.setblocking(False)
            asking.connect(self._address)
            size = _CREDENTIALS.size
            found = asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
            return int(_CREDENTIALS.unpack(found)[1])
        return None
