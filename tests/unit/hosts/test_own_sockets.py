import os
import socket

import psutil
import pytest

from advisor.hosts.own_sockets import borrowed, listening_fd


def test_a_listening_socket_is_found_by_its_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert listening_fd(port) == server.fileno()
    assert listening_fd(port) is None


def test_a_connected_socket_on_the_same_port_is_not_listening() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        with socket.create_connection(address), server.accept()[0]:
            server.close()
            assert listening_fd(address[1]) is None


def test_borrowing_leaves_the_owner_its_descriptor() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        with borrowed(server.fileno()) as sock:
            assert sock.getsockname() == server.getsockname()
            assert sock.fileno() != server.fileno()
        os.fstat(server.fileno())


def test_borrowing_what_is_no_socket() -> None:
    reading, writing = os.pipe()
    before = psutil.Process().num_fds()
    try:
        with pytest.raises(OSError), borrowed(reading):  # noqa: PT011 — ENOTSOCK has no class
            pass
        assert psutil.Process().num_fds() == before
    finally:
        os.close(reading)
        os.close(writing)
