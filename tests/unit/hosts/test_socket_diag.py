"""The kernel's counters of another process's connections, on real connections over loopback."""

import socket
import sys
import time
from pathlib import Path

import pytest

from advisor.hosts.processes import command_bound_to_stdin, running
from advisor.hosts.socket_diag import ProcessSockets, ServerSockets

_SENDER = """
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as s:
    s.sendall(bytes(int(sys.argv[2])))
    print("sent", flush=True)
    sys.stdin.read() if len(sys.argv) > 3 else __import__("time").sleep(60)
"""


def _read_all(connection: socket.socket, count: int) -> None:
    while count:
        count -= len(connection.recv(min(count, 65536)))


@pytest.mark.asyncio
async def test_what_was_acknowledged_is_counted_and_stays_after_the_end() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        async with running(
            command_bound_to_stdin([sys.executable, "-c", _SENDER, str(port), "100000"])
        ) as child:
            sockets = ProcessSockets(child.pid)
            connection, _ = server.accept()
            with connection:
                _read_all(connection, 100_000)
                assert await child.stdout.readline() == b"sent\n"
                totals = sockets.totals()
                while totals.acked_bytes < 100_000:  # The last acknowledgement may be on its way.
                    totals = sockets.totals()
                assert totals.connections == 1
                # The kernel counts the opening SYN as one byte.
                assert 100_000 <= totals.acked_bytes <= 100_001
                assert totals.rtt_s is not None
        assert sockets.totals().acked_bytes == totals.acked_bytes
        assert sockets.totals().rtt_s is None


@pytest.mark.asyncio
async def test_an_excluded_port_and_other_processes_do_not_count() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        async with running(
            command_bound_to_stdin([sys.executable, "-c", _SENDER, str(port), "1000"])
        ) as child:
            connection, _ = server.accept()
            with connection:
                _read_all(connection, 1000)
                while not ProcessSockets(child.pid).totals().connections:
                    time.sleep(0.01)  # Who looked a moment ago shares that look.
                assert ProcessSockets(child.pid, excluded_port=port).totals().connections == 0
                own = ProcessSockets(1 if child.pid != 1 else 2)
                assert own.totals().acked_bytes == 0


def _acked_bytes(sockets: ServerSockets, least: int) -> int:
    """Once that many were acknowledged."""
    while (acked_bytes := sockets.totals().acked_bytes) < least:
        time.sleep(0.01)
    return acked_bytes


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_a_servers_new_connections_from_its_client_count(family: socket.AddressFamily) -> None:
    own, beside = "127.0.0.1", "127.0.0.2"
    is_dual = family == socket.AF_INET6
    listening = ("::", 0) if is_dual else ("", 0)
    with socket.create_server(listening, family=family, dualstack_ipv6=is_dual) as server:
        port = server.getsockname()[1]

        def connected(client: str) -> tuple[socket.socket, socket.socket]:
            there = socket.create_connection((own, port), source_address=(client, 0))
            return there, server.accept()[0]

        older, older_here = connected(own)
        time.sleep(0.1)  # Who looked a moment ago shares that look.
        sockets = ServerSockets(port, own)
        other, other_here = connected(beside)
        new, new_here = connected(own)
        with older, older_here, other, other_here, new, new_here:
            for here, there, count in (
                (older_here, older, 1000),
                (other_here, other, 2000),
                (new_here, new, 4000),
            ):
                here.sendall(bytes(count))
                _read_all(there, count)
            # No SYN of the server's own is counted, nor what it has received.
            assert _acked_bytes(sockets, 4000) in (4000, 4001)
            assert sockets.totals().connections == 1
        assert sockets.totals().acked_bytes in (4000, 4001, 4002)


@pytest.mark.asyncio
async def test_a_command_bound_to_stdin_has_its_own_status_and_no_input() -> None:
    async with running(command_bound_to_stdin(["/bin/sh", "-c", "cat; echo $$; exit 7"])) as child:
        assert int(await child.stdout.readline()) == child.pid
        assert await child.wait() == 7


@pytest.mark.asyncio
async def test_a_command_bound_to_stdin_ends_with_its_input(tmp_path: Path) -> None:
    mark = tmp_path / "still there"
    script = f"sleep 3; touch '{mark}'; sleep 60"
    async with running(command_bound_to_stdin(["/bin/sh", "-c", script])) as child:
        child.stdin.close()
        assert await child.wait() == -9
    time.sleep(3.2)
    assert not mark.exists()


@pytest.mark.asyncio
async def test_what_a_started_program_sends_counts_where_it_is_asked_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        start = 'sh -c \'"$0" "$@" & wait\' "$0" "$@" & wait'
        argv = ["/bin/sh", "-c", start, sys.executable, "-c", _SENDER, str(port), "1000"]
        async with running(command_bound_to_stdin(argv)) as child:
            connection, _ = server.accept()
            with connection:
                _read_all(connection, 1000)
                sockets = ProcessSockets(child.pid, with_children=True)
                while sockets.totals().acked_bytes < 1000:
                    time.sleep(0.01)  # It is looked for again after a while.
                assert ProcessSockets(child.pid).totals().connections == 0
