"""An error of one TLS connection is not left to the others of its thread.

tests/system/test_dask.py computes on real workers: with Python 3.13 and OpenSSL 3.5, 9 of 12 such
computations failed without this.
"""

import _ssl
import ctypes
import errno
import socket
import ssl
from typing import Any, Final

import pytest

from advisor.runtime.dask_tls import TlsSocket

_ERR_LIB_SYS: Final = 2


@pytest.fixture
def openssl() -> ctypes.CDLL:
    """The library that Python's own module uses."""
    library = ctypes.CDLL(_ssl.__file__)
    if not hasattr(library, "ERR_set_error"):
        pytest.skip("this Python shows no function of its OpenSSL")
    return library


@pytest.fixture
def connection() -> Any:
    """One whose other side does not answer."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with theirs, context.wrap_socket(ours, do_handshake_on_connect=False) as made:
        yield made


def _left(openssl: ctypes.CDLL) -> None:
    openssl.ERR_new()
    openssl.ERR_set_error(_ERR_LIB_SYS, errno.EPIPE, None)
    assert openssl.ERR_peek_error()


@pytest.mark.parametrize("call", ["send", "recv_into", "do_handshake"])
def test_what_a_lost_connection_leaves_is_cleared(
    connection: ssl.SSLSocket,
    openssl: ctypes.CDLL,
    monkeypatch: pytest.MonkeyPatch,
    call: str,
) -> None:
    def lost(*_: object) -> None:
        _left(openssl)
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr(ssl.SSLSocket, call, lost)
    with pytest.raises(BrokenPipeError):
        getattr(connection, call)()
    assert openssl.ERR_peek_error() == 0


def test_connections_are_of_this_kind(connection: ssl.SSLSocket) -> None:
    assert isinstance(connection, TlsSocket)


def test_one_that_has_to_wait_says_so(connection: ssl.SSLSocket) -> None:
    with pytest.raises(ssl.SSLWantReadError):
        connection.do_handshake()
