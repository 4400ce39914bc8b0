"""Hosts with two networks: data leave from the address or interface that was chosen."""

import socket
import struct
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.namespaces import entered

from .conftest import Namespaces, StartAgent
from .program import Start

pytestmark = pytest.mark.namespaces
FAST, SLOW = "10.99.7", "10.99.8"
MTU = 1500
GRID = [
    *("--set", "streams=1", "--set", "tcp.buffer=auto", "--repeats", "1", "--congestion", "reno"),
    *("--set", "udt.block=29KiB", "--set", "udt.buffer=2MiB"),
]


@pytest.fixture
def two_links(joined: Namespaces) -> Namespaces:
    """The hosts of `joined`, with a second link of 60 Mbit/s, IPv4 and IPv6."""
    peer = ("peer", "name", "v1", "netns", joined.destination.path)
    joined.source.run("ip", "link", "add", "v1", "type", "veth", *peer)
    shaped = ("tbf", "rate", "60mbit", "burst", "64kb", "latency", "50ms")
    for side, number in ((joined.source, 1), (joined.destination, 2)):
        side.run("ip", "addr", "add", f"{SLOW}.{number}/24", "dev", "v1")
        side.run("ip", "addr", "add", f"fd00:8::{number}/64", "dev", "v1", "nodad")
        side.run("ip", "link", "set", "v1", "mtu", str(MTU), "up")
        side.run("tc", "qdisc", "add", "dev", "v1", "root", *shaped)
    joined.source.wait_for_link("v1")
    return joined


class Capture:
    """What leaves a namespace by a device: source addresses, and sizes of UDP's IP packets."""

    def __init__(self, path: str, device: str) -> None:
        with entered(path):
            self._sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self._sock.bind((device, 3))
        self._sock.settimeout(0.2)
        self._over = threading.Event()
        self.sources: set[str] = set()
        self.udp_sizes: list[int] = []
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def _listen(self) -> None:
        while not self._over.is_set():
            try:
                frame, (_, _, kind, *_) = self._sock.recvfrom(65536)
            except TimeoutError:
                continue
            if kind == socket.PACKET_OUTGOING:
                self._take(struct.unpack("!H", frame[12:14])[0], frame[14:])

    def _take(self, kind: int, packet: bytes) -> None:
        """Of TCP the kernel hands several packets to the device at once; of UDP each."""
        if kind == 0x0800:
            source, protocol = socket.inet_ntop(socket.AF_INET, packet[12:16]), packet[9]
            size = struct.unpack("!H", packet[2:4])[0]
        elif kind == 0x86DD:
            source, protocol = socket.inet_ntop(socket.AF_INET6, packet[8:24]), packet[6]
            size = struct.unpack("!H", packet[4:6])[0] + 40
        else:
            return
        if protocol in (socket.IPPROTO_TCP, socket.IPPROTO_UDP):
            self.sources.add(source)
        if protocol == socket.IPPROTO_UDP:
            self.udp_sizes.append(size)

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        self._sock.close()


def rates(events: list[dict[str, Any]]) -> dict[str, float]:
    """The throughput of each transport in bit/s."""
    ended = [event for event in events if event["event"] == "probe_ended"]
    assert ended
    return {
        event["transport"]: event["result"]["throughput_bps"]
        for event in ended
        if event["result"]["outcome"] == "measured"
    }


@pytest.mark.parametrize(
    ("words", "source", "address", "low_bps", "high_bps"),
    [
        (["--interface", "v0"], f"{FAST}.1", f"{FAST}.2", 70e6, 205e6),
        (["--interface", "v1"], f"{SLOW}.1", f"{SLOW}.2", 25e6, 62e6),
        (["--source-address", f"{SLOW}.1"], f"{SLOW}.1", f"{SLOW}.2", 25e6, 62e6),
        (["--interface", "v1"], "fd00:8::1", "fd00:8::2", 25e6, 62e6),
    ],
)
def test_data_leave_by_the_chosen_interface(
    start: Start,
    start_agent: StartAgent,
    two_links: Namespaces,
    words: list[str],
    source: str,
    address: str,
    low_bps: float,
    high_bps: float,
) -> None:
    agent = start_agent(host=f"{FAST}.2", prefix=two_links.destination.host)
    device = "v0" if source.startswith(FAST) else "v1"
    capture = Capture(two_links.source.path, device)
    try:
        run = start(
            *("profile", f"{FAST}.2", "--json", *agent.options, "--address", address, *words),
            *GRID,
            prefix=two_links.source.host,
        )
        done = run.finish()
    finally:
        capture.close()
    assert done.returncode == 0, done.stderr
    path = next(event for event in run.events if event["event"] == "path_found")["path"]
    assert (path["source_address"], path["destination_address"]) == (source, address)
    assert (path["source"]["interface"], path["destination"]["interface"]) == (device, device)
    assert path["chose_source"] is True
    found = rates(run.events)
    assert "tcp" in found
    # How fast UDT is depends on the cores; no transport is faster than the link.
    assert all(rate_bps < high_bps for rate_bps in found.values()), found
    assert found["tcp"] > low_bps
    # Nothing left from another address, and no packet was longer than the path takes.
    assert capture.sources == {source}
    if "udt" in found:
        assert 0.9 * MTU < max(capture.udp_sizes) <= MTU


def test_rclone_is_bound_and_of_others_it_is_said(
    start: Start, start_agent: StartAgent, two_links: Namespaces
) -> None:
    agent = start_agent(host=f"{FAST}.2", prefix=two_links.destination.host)
    run = start(
        *("advise", f"{FAST}.2", "--json", "--budget", "8", *agent.options),
        *("--address", f"{SLOW}.2", "--interface", "v1", "--tools", "rclone,globus-url-copy"),
        prefix=two_links.source.host,
    )
    assert run.finish().returncode == 0
    commands = {one["tool"]: one for one in run.events[-1]["commands"]}
    assert ["--bind", f"{SLOW}.1"] == commands["rclone"]["argv"][
        commands["rclone"]["argv"].index("--bind") :
    ][:2]
    if "globus-url-copy" in commands:
        assert f"no option to send from {SLOW}.1" in commands["globus-url-copy"]["note"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--interface", "v9"], "there is no interface 'v9'"),
        (["--interface", "v1"], "leave by v0, not by v1"),
        (["--source-address", "192.0.2.9"], "is not an address of this host"),
        (["--source-address", "x"], "'x' is not an IP address"),
        (["--source-address", f"{SLOW}.1", "--interface", "v1"], "exclude each other"),
    ],
)
def test_what_cannot_be_bound_is_refused(
    start: Start,
    start_agent: StartAgent,
    two_links: Namespaces,
    words: list[str],
    sentence: str,
) -> None:
    agent = start_agent(host=f"{FAST}.2", prefix=two_links.destination.host)
    for command in (["path"], ["advise"], ["profile", "measure"]):
        done = start(
            *command, f"{FAST}.2", *agent.options, *words, prefix=two_links.source.host
        ).finish()
        assert done.returncode == 2, done.stderr
        assert sentence in done.stderr
        assert "Traceback" not in done.stderr


def test_what_was_measured_on_one_link_is_not_the_other_ones(
    start: Start, start_agent: StartAgent, two_links: Namespaces, tmp_path: Path
) -> None:
    agent = start_agent(host=f"{FAST}.2", prefix=two_links.destination.host)
    on_fast = ("--address", f"{FAST}.2", "--interface", "v0")
    run = start(
        *("profile", f"{FAST}.2", "--json", *agent.options, *on_fast, *GRID),
        prefix=two_links.source.host,
    )
    assert run.finish().returncode == 0
    on_slow = ("--address", f"{SLOW}.2", "--interface", "v1")
    looked = start(
        *("path", f"{FAST}.2", "--json", *agent.options, *on_slow), prefix=two_links.source.host
    )
    assert looked.finish().returncode == 0
    history = next(event for event in looked.events if event["event"] == "history_found")
    # Veth pairs report no speed: interface and address distinguish them.
    assert history["results"] == []
    assert any("from v0 to v0; it is from v1 to v1 now" in note for note in history["notes"])
