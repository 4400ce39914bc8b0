import contextlib
import itertools
import socket
import struct
import threading
from collections.abc import Iterable, Iterator

import pytest

from advisor.hosts.own_sockets import open_fds
from advisor.hosts.tcp_info import TcpSockets, is_cut

SYN = 1  # What the kernel counts of the opening as acknowledged.


_left_open: set[int] = set()


@pytest.fixture(autouse=True)
def _before() -> None:
    """Libraries leave connections open, as libiperf does after an error: none of these tests'."""
    _left_open.clear()
    _left_open.update(open_fds())


def watched(excluded: Iterable[int] = ()) -> TcpSockets:
    """The connections of the test."""
    return TcpSockets({*_left_open, *excluded})


@contextlib.contextmanager
def connection() -> Iterator[tuple[socket.socket, socket.socket]]:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
        server.accept()[0] as accepted,
    ):
        yield client, accepted


def drain(sock: socket.socket, count: int) -> None:
    while count:
        count -= len(sock.recv(min(count, 65536)))


def test_no_stream_no_totals() -> None:
    with socket.create_server(("127.0.0.1", 0)):
        totals = watched().totals()
    assert totals.streams == totals.received_bytes == totals.acked_bytes == 0
    assert totals.rtt_s is None
    assert totals.congestion is None
    assert totals.send_buffer_bytes is totals.receive_buffer_bytes is totals.pmtu_bytes is None


def test_received_and_acknowledged_bytes_are_the_kernel_s() -> None:
    sockets = watched()
    with connection() as (client, accepted):
        client.sendall(b"x" * 50_000)
        drain(accepted, 50_000)
        # The acknowledgement of the last segment may be delayed; an answer carries it.
        accepted.sendall(b"y")
        drain(client, 1)
        totals = sockets.totals()
    assert totals.streams == 2
    assert totals.received_bytes == 50_001
    assert 50_000 + SYN <= totals.acked_bytes <= 50_001 + SYN
    assert totals.retransmits == 0
    assert totals.rtt_s is not None
    assert 0 < totals.rtt_s < 1
    assert totals.pmtu_bytes == 65535 or totals.pmtu_bytes == 65536  # loopback's
    assert totals.congestion


def test_the_sender_s_windows_are_the_kernel_s() -> None:
    sockets = watched()
    with connection() as (client, accepted):
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
        before = sockets.totals().sending
        client.sendall(b"x" * 50_000)
        drain(accepted, 50_000)
        accepted.sendall(b"y")
        drain(client, 1)
        after = sockets.totals().sending
    assert before is not None
    assert after is not None
    assert (after.congestion, after.streams, after.cuts) == ("reno", 2, 0)
    assert after.starting == 2
    # Two initial windows of ten segments, at least.
    assert after.window_bytes >= 20 * after.segment_bytes > 0
    assert after.sent_segments > before.sent_segments
    assert after.busy_s >= before.busy_s
    assert sockets.totals().sending is None


def test_a_cut_is_a_new_threshold_together_with_a_loss() -> None:
    def reading(threshold: int, retransmits: int) -> bytes:
        info = bytearray(192)
        struct.pack_into("=I", info, 76, threshold)
        struct.pack_into("=I", info, 100, retransmits)
        return bytes(info)

    start = reading(2**31 - 1, 0)
    assert is_cut(start, reading(40, 1))
    assert is_cut(reading(40, 1), reading(30, 2))
    assert not is_cut(start, reading(40, 0)), "slow start that ended because the delay rose"
    assert not is_cut(reading(40, 1), reading(40, 2)), "the same loss is still being repaired"


def test_buffers_are_the_smallest_granted() -> None:
    sockets = watched()
    with connection() as (client, accepted):
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8192)
        accepted.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
        totals = sockets.totals()
        assert totals.send_buffer_bytes == client.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
        assert totals.receive_buffer_bytes == 32768  # doubled by the kernel


def test_the_congestion_control_in_use_is_named() -> None:
    sockets = watched()
    with connection() as (client, accepted):
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
        assert sockets.totals().congestion == "reno"


def test_a_closed_stream_stays_in_the_sums() -> None:
    sockets = watched()
    with connection() as (client, accepted):
        client.sendall(b"x" * 1000)
        drain(accepted, 1000)
        before = sockets.totals()
    after = sockets.totals()
    assert after.received_bytes == before.received_bytes == 1000
    assert after.streams == 2
    assert after.rtt_s is None
    with connection() as (client, accepted):  # On the same descriptors.
        client.sendall(b"x" * 10)
        drain(accepted, 10)
        assert sockets.totals().received_bytes == 1010
        assert sockets.totals().streams == 4


def test_a_stream_whose_peer_reset_it_stays() -> None:
    sockets = watched()
    with connection() as (client, accepted):
        client.sendall(b"x" * 1000)
        drain(accepted, 1000)
        assert sockets.totals().received_bytes == 1000
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        client.close()
        with pytest.raises(ConnectionResetError):
            accepted.recv(1)
        assert sockets.totals().received_bytes == 1000


def test_an_excluded_connection_does_not_count() -> None:
    with connection() as (control, control_end), connection() as (client, accepted):
        sockets = watched({control.fileno(), control_end.fileno()})
        control.sendall(b"hello")
        drain(control_end, 5)
        client.sendall(b"x" * 100)
        drain(accepted, 100)
        assert sockets.totals().received_bytes == 100
        sockets.exclude(accepted.fileno())
        assert sockets.totals().received_bytes == 0
        sockets.exclude(100_000)  # closed: passed over


def test_an_excluded_descriptor_that_is_used_again_counts() -> None:
    sockets = watched()
    with connection() as (control, control_end):
        fds = {control.fileno(), control_end.fileno()}
        for fd in fds:
            sockets.exclude(fd)
    with connection() as (client, accepted):
        assert {client.fileno(), accepted.fileno()} == fds
        assert sockets.totals().streams == 2


def test_other_sockets_are_passed_over() -> None:
    left, right = socket.socketpair()
    with left, right, socket.socket(socket.AF_INET, socket.SOCK_DGRAM), socket.socket():
        sockets = watched()
        assert sockets.totals().streams == 0
        assert sockets.totals().streams == 0


def test_the_sums_never_fall_while_descriptors_come_and_go() -> None:
    sockets = watched()
    stop = threading.Event()
    faults: list[BaseException] = []

    def churn() -> None:
        try:
            while not stop.is_set():
                with connection() as (client, accepted):
                    client.sendall(b"x" * 5000)
                    drain(accepted, 5000)
        except BaseException as error:
            faults.append(error)
            raise

    threads = [threading.Thread(target=churn) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        seen = [sockets.totals() for _ in range(300)]
        # On a busy machine no thread may have had its turn yet.
        while not seen[-1].received_bytes and not faults:
            seen.append(sockets.totals())
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not faults
    for earlier, later in itertools.pairwise(seen):
        assert later.received_bytes >= earlier.received_bytes
        assert later.acked_bytes >= earlier.acked_bytes
        assert later.streams >= earlier.streams
    assert seen[-1].received_bytes > 0
