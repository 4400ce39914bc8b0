"""UDT's packets on the wire, between two network namespaces: none is larger than the path MTU."""

import contextlib
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec
import pytest

from advisor import registry
from advisor.api.transport import ReceiveOrder, SendOrder
from advisor.api.values import Setting
from advisor.lab.networks import NetworkError
from advisor.probing.child import Task
from advisor.testing.samples import a_path
from tests.line_reader import LineReader
from tests.namespaces import Namespace, entered

pytestmark = pytest.mark.namespaces

TOKEN: Final = "5" * 32
LONG_S: Final = 30.0
ETHERNET_BYTES: Final = 14
ETH_P_ALL: Final = 3
UDP: Final = 17
MTU_BYTES: Final = 1500
ADDRESSES: Final = {4: ("10.71.5.1", "10.71.5.2"), 6: ("fd00:5::1", "fd00:5::2")}


class Packet(NamedTuple):
    """`protocol`: IPv4's protocol or IPv6's next header, 44 for a fragment there."""

    size_bytes: int
    protocol: int
    is_fragment: bool


@pytest.fixture
def hosts() -> Iterator[tuple[Namespace, Namespace]]:
    """Two hosts joined by Ethernet of 1500 bytes, with addresses of both families."""
    availability = registry.transport("udt").available()
    if not availability.ok:
        pytest.skip(f"{availability.reason}: {availability.remedy}")
    try:
        source, destination = Namespace(), Namespace()
    except NetworkError as error:
        pytest.skip(f"no network namespaces here: {error}")
    with contextlib.closing(source), contextlib.closing(destination):
        peer = ("peer", "name", "v0", "netns", destination.path)
        source.run("ip", "link", "add", "v0", "type", "veth", *peer)
        for end, host in enumerate((source, destination)):
            host.run("ip", "addr", "add", f"{ADDRESSES[4][end]}/24", "dev", "v0")
            host.run("ip", "addr", "add", f"{ADDRESSES[6][end]}/64", "dev", "v0", "nodad")
            host.run("ip", "link", "set", "v0", "mtu", str(MTU_BYTES), "up")
        for host in (source, destination):
            host.wait_for_link("v0")
        yield source, destination


@contextlib.contextmanager
def _end(host: Namespace, task: Task) -> Iterator[LineReader]:
    command = [*host.host, sys.executable, "-P", "-m", "advisor.probing.child"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdin
    assert process.stdout
    try:
        process.stdin.write(msgspec.json.encode(task) + b"\n")
        process.stdin.flush()
        yield LineReader(process.stdout)
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def _port_of(reports: LineReader) -> int:
    deadline_s = time.monotonic() + LONG_S
    while line := reports.line(deadline_s):
        report = json.loads(line)
        if report["report"] == "ready":
            return int(report["port"])
    raise AssertionError("the receiver never listened")


def _captured(wire: socket.socket, count: int) -> Iterator[Packet]:
    """The next packets of UDP on this wire, and all fragments."""
    wire.settimeout(LONG_S)
    while count:
        frame = wire.recv(65535)
        ip = frame[ETHERNET_BYTES:]
        if ip[0] >> 4 == 6:
            packet = Packet(len(ip), ip[6], is_fragment=ip[6] == 44)
        elif ip[0] >> 4 == 4:
            more, offset = ip[6] & 0x20, int.from_bytes(ip[6:8], "big") & 0x1FFF
            packet = Packet(len(ip), ip[9], is_fragment=bool(more or offset))
        else:
            continue
        if packet.protocol == UDP or packet.is_fragment:
            count -= 1
            yield packet


def _packets_of_a_probe(
    hosts: tuple[Namespace, Namespace], addresses: tuple[str, str], setting: Setting
) -> list[Packet]:
    source, destination = hosts
    order = ReceiveOrder(
        setting=setting,
        source_address=addresses[0],
        own_address=addresses[1],
        token=TOKEN,
        ports=(0, 0),
        ceiling_s=20,
        sample_every_s=0.1,
    )
    with entered(destination.path):
        wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    with wire, _end(destination, Task(transport="udt", receive=order)) as reports:
        sending = SendOrder(
            setting=setting,
            address=addresses[1],
            port=_port_of(reports),
            token=TOKEN,
            ceiling_s=15,
            connect_timeout_s=5,
            sample_every_s=0.1,
        )
        with _end(source, Task(transport="udt", send=sending)):
            return list(_captured(wire, 2000))


@pytest.mark.parametrize("family", [4, 6])
def test_packets_fill_the_path_mtu_and_no_more(
    hosts: tuple[Namespace, Namespace], family: int
) -> None:
    path = a_path(mtu_bytes=MTU_BYTES, destination_address=ADDRESSES[family][1])
    setting = registry.transport("udt").variants(path, [])[0]
    wanted = setting | {"block_bytes": 14_560, "buffer_bytes": 4_000_000}
    packets = _packets_of_a_probe(hosts, ADDRESSES[family], wanted)
    assert not any(packet.is_fragment for packet in packets)
    assert max(packet.size_bytes for packet in packets) == MTU_BYTES


@pytest.mark.parametrize("family", [4, 6])
def test_a_setting_of_a_path_with_larger_packets_is_not_fragmented(
    hosts: tuple[Namespace, Namespace], family: int
) -> None:
    setting: Setting = {"mss_bytes": 9000, "block_bytes": 14_560, "buffer_bytes": 4_000_000}
    packets = _packets_of_a_probe(hosts, ADDRESSES[family], setting)
    assert not any(packet.is_fragment for packet in packets)
    assert max(packet.size_bytes for packet in packets) == MTU_BYTES
