"""What can go wrong, and libudt's own numbers for it."""

CLOSED = 2001
NOT_CONNECTED = 2002
NO_SUCH_SOCKET = 5004
NOTHING_TO_RECEIVE = 6002
TIMED_OUT = 6003


class UdtMissing(OSError):
    """libudt cannot be loaded; the text names the remedy."""


class UdtError(OSError):
    """A call that libudt refused or that failed.

    `code` is libudt's own (1001 no answer, 1002 rejected, 5003 bad value, 6003 timed out, ...), and
    `text` its sentence. `errno` stays None: these are not the system's numbers.
    """

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{text} (libudt {code})")
        self.code = code
        self.text = text


class UdtClosed(UdtError):
    """The connection has ended: the peer closed it, it was lost, or this end closed the socket.

    libudt has one code for a close and for a loss; whoever must tell them apart counts the bytes.
    """


class UdtTimeout(UdtError, TimeoutError):
    """The time given was over before anything happened."""
