import ipaddress
import os
import socket
import struct
import subprocess
import sys
from typing import Any

import pytest

from advisor.hosts.peer_filter import _program, comes_from, only_from

SILENCE_S = 0.3


# Without CAP_NET_ADMIN it depends on the kernel whether TCP may be filtered. A namespace of one's
# own gives that right; what is done without it, `comes_from`, needs none.
filters_tcp = pytest.mark.namespaces


def listener(family: socket.AddressFamily, address: str, allowed: str) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    if family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    only_from(sock, allowed)
    sock.bind((address, 0))
    sock.listen()
    return sock


def connects(server: socket.socket, source: str, target: str) -> bool:
    family = socket.AF_INET6 if ":" in target else socket.AF_INET
    with socket.socket(family) as client:
        client.bind((source, 0))
        client.settimeout(SILENCE_S)
        try:
            client.connect((target, server.getsockname()[1]))
        except TimeoutError:
            return False
        return True


@filters_tcp
@pytest.mark.parametrize("allowed", ["127.0.0.1", "::ffff:127.0.0.1"])
def test_tcp_listener_lets_in_the_allowed_source_only(allowed: str) -> None:
    with listener(socket.AF_INET, "0.0.0.0", allowed) as server:
        assert connects(server, "127.0.0.1", "127.0.0.1")
        assert not connects(server, "127.0.0.2", "127.0.0.1")


@filters_tcp
def test_data_flows_through_the_filter() -> None:
    with (
        listener(socket.AF_INET, "127.0.0.1", "127.0.0.2") as server,
        socket.create_connection(server.getsockname(), source_address=("127.0.0.2", 0)) as client,
        server.accept()[0] as accepted,
    ):
        client.sendall(b"x" * 100_000)
        client.shutdown(socket.SHUT_WR)
        received = 0
        while chunk := accepted.recv(65536):
            received += len(chunk)
        assert received == 100_000


@filters_tcp
@pytest.mark.parametrize("allowed", ["127.0.0.1", "::ffff:127.0.0.1"])
def test_dual_stack_listener_and_an_ipv4_peer(allowed: str) -> None:
    with listener(socket.AF_INET6, "::", allowed) as server:
        assert connects(server, "127.0.0.1", "127.0.0.1")
        assert not connects(server, "127.0.0.2", "127.0.0.1")
        assert not connects(server, "::1", "::1")


@filters_tcp
def test_dual_stack_listener_and_an_ipv6_peer() -> None:
    with listener(socket.AF_INET6, "::", "::1") as server:
        assert connects(server, "::1", "::1")
        assert not connects(server, "127.0.0.1", "127.0.0.1")


@filters_tcp
def test_ipv6_addresses_are_compared_to_the_last_word() -> None:
    with listener(socket.AF_INET6, "::", "::2") as server:
        assert not connects(server, "::1", "::1")


def test_udp() -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as friend,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger,
    ):
        only_from(server, "127.0.0.2")
        server.bind(("127.0.0.1", 0))
        server.settimeout(SILENCE_S)
        friend.bind(("127.0.0.2", 0))
        stranger.sendto(b"stranger", server.getsockname())
        friend.sendto(b"friend", server.getsockname())
        assert server.recv(100) == b"friend"
        with pytest.raises(TimeoutError):
            server.recv(100)


IPV4, IPV6 = "127.0.0.2", "2001:db8:7f00:2::1"


def passes(address: str, packet: bytes) -> bool:
    """What the kernel does with the packet, by the numbers of linux/filter.h that are used."""
    program = list(_program(ipaddress.ip_address(address)))
    at = accumulator = 0
    while True:
        code, if_equal, if_not, value = program[at]
        at += 1
        match code:
            case 0x30:
                accumulator = packet[value - 0xFFF00000]
            case 0x20:
                (accumulator,) = struct.unpack_from("!I", packet, value - 0xFFF00000)
            case 0x74:
                accumulator >>= value
            case 0x15:
                at += if_equal if accumulator == value else if_not
            case 0x06:
                return value != 0
            case _:
                raise AssertionError(f"{code:#x} is none of them")


def headers(address: str) -> bytes:
    """Those of a packet from this address, with all other fields 0."""
    ip = ipaddress.ip_address(address)
    where = {4: 12, 6: 8}[ip.version]
    return (bytes([ip.version << 4]).ljust(where, b"\0") + ip.packed).ljust(60, b"\0")


def test_an_address_counts_in_packets_of_its_own_version_alone() -> None:
    """IPv6 has the bytes of its source where IPv4 has its own, and any host can choose them."""
    crafted = headers(IPV6)
    assert crafted[12:16] == ipaddress.ip_address(IPV4).packed
    assert not passes(IPV4, crafted)
    assert passes(IPV6, crafted)
    assert not passes(IPV6, bytes([0x45]) + crafted[1:])
    assert passes(IPV4, headers(IPV4))
    assert not passes(IPV6, headers(IPV4))
    assert not passes(IPV4, headers("127.0.0.3"))


@pytest.mark.parametrize("bit", range(0, 128, 8))
def test_every_word_of_an_ipv6_address_counts(bit: int) -> None:
    other = ipaddress.IPv6Address(int(ipaddress.IPv6Address(IPV6)) ^ 1 << bit)
    assert not passes(IPV6, headers(str(other)))


def test_what_is_no_address_is_refused() -> None:
    with socket.socket() as sock, pytest.raises(ValueError, match="example"):
        only_from(sock, "host.example")


@pytest.mark.parametrize(
    ("address", "expected"),
    [("127.0.0.2", True), ("::ffff:127.0.0.2", True), ("127.0.0.1", False), ("::1", False)],
)
def test_the_other_end_of_a_connection(address: str, expected: bool) -> None:
    with socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as server:
        target = ("127.0.0.1", server.getsockname()[1])
        with (
            socket.create_connection(target, source_address=("127.0.0.2", 0)),
            server.accept()[0] as accepted,
        ):
            assert comes_from(accepted, address) is expected
        assert comes_from(server, address) is False


@pytest.mark.skipif(os.geteuid() != 0, reason="drops the privileges of root")
def test_without_privileges() -> None:
    code = """
import os, socket
from advisor.hosts.peer_filter import only_from
os.setgroups([]), os.setgid(65534), os.setuid(65534)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp, socket.socket() as tcp:
    only_from(udp, "127.0.0.1")
    try:
        only_from(tcp, "127.0.0.1")
    except PermissionError:
        pass  # As documented: it depends on the kernel.
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)


@pytest.mark.namespaces
def test_between_two_hosts(network: Any) -> None:
    network.add("far")
    network.join("near", "far", "10.71.1", (1500, 1500))
    network.ip("near", "addr", "add", "10.71.1.9/24", "dev", "to-far")
    with network.inside("far"):
        server = listener(socket.AF_INET6, "::", "10.71.1.1")
    with server, network.inside("near"):
        assert connects(server, "10.71.1.1", "10.71.1.2")
        assert not connects(server, "10.71.1.9", "10.71.1.2")
        assert not connects(server, "fd00:1::1", "fd00:1::2")
