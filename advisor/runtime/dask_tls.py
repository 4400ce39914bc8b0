"""TLS for Dask, with which a lost connection ends no other. Imported for that effect.

Where a connection breaks, Python 3.13 and later with OpenSSL 3.4 and later can leave the error in
OpenSSL's queue, which each thread has one of, and the next call for any other connection of that
thread fails with it (https://github.com/python/cpython/issues/148594). Dask has all connections of
a process in one thread: one that ended ended them all.
"""

import contextlib
import ssl
from collections.abc import Iterator
from typing import Any, Final

_CONTEXT: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class TlsSocket(ssl.SSLSocket):
    """One whose errors stay its own. Its methods are those that Tornado calls."""

    def do_handshake(self, *args: Any, **named: Any) -> None:
        """As SSLSocket's."""
        with _own_errors():
            super().do_handshake(*args, **named)

    def recv_into(self, *args: Any, **named: Any) -> int:
        """As SSLSocket's."""
        with _own_errors():
            return super().recv_into(*args, **named)

    def send(self, *args: Any, **named: Any) -> int:
        """As SSLSocket's."""
        with _own_errors():
            return super().send(*args, **named)


@contextlib.contextmanager
def _own_errors() -> Iterator[None]:
    try:
        yield
    except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
        raise
    except OSError:
        # There is no call for this alone: an unknown cipher is refused, and the queue emptied.
        with contextlib.suppress(ssl.SSLError):
            _CONTEXT.set_ciphers("NONE")
        raise


ssl.SSLContext.sslsocket_class = TlsSocket
