"""The exceptions of the binding, with libudt's error codes."""

CLOSED = 2001
NOT_CONNECTED = 2002
NO_SUCH_SOCKET = 5004
NOTHING_TO_RECEIVE = 6002
TIMED_OUT = 6003


class UdtMissing(OSError):
    """libudt cannot be loaded; the text names the remedy."""


class UdtError(OSError):
    """A call that libudt rejected or that failed.

    `code` is libudt's own (1001 no answer, 1002 rejected, 5003 bad value, 6003 timed out, ...), and
    `text` its message. `errno` stays None: these are not the system's codes.
    """

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{text} (libudt {code})")
        self.code = code
        self.text = text


class UdtClosed(UdtError):
    """The connection has ended: the peer closed it, it was lost, or this end closed the socket.

    libudt has one code for a close and for a loss; a caller can distinguish them by the byte count.
    """


class UdtTimeout(UdtError, TimeoutError):
    """The timeout expired."""
