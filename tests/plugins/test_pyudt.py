"""pyudt against the real libudt, over loopback."""

from __future__ import annotations

import ctypes
import importlib.util
import random
import socket as sockets
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from advisor import registry
from advisor.hosts.compiled import shared_library

BINDING = Path(__file__).parents[2] / "plugins" / "transports" / "udt" / "pyudt"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        name, BINDING / "__init__.py", submodule_search_locations=[str(BINDING)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


udt = load("pyudt_under_test")
Option = udt.Option

try:
    udt.library()
except udt.UdtMissing as missing:
    pytest.skip(str(missing), allow_module_level=True)


@pytest.fixture(params=["python", "compiled"])
def send_blocks(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Any]:
    """The sending loop, with the calls of a batch made by Python and by the compiled helper."""
    if request.param == "python":
        sent: Callable[..., Any] = udt.send_blocks
        return sent
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    compiled = shared_library(udt.REPEAT_SOURCE)
    if compiled is None:
        pytest.skip("there is no C compiler here: apt-get install gcc libc6-dev")
    assert shared_library(udt.REPEAT_SOURCE) == compiled
    return partial(udt.send_blocks, repeat=compiled)


HOST = {sockets.AF_INET: "127.0.0.1", sockets.AF_INET6: "::1"}
# A close is one datagram, which a busy receiver may lose. Then it ends by silence: after 48 s.
WITHIN_S = 90.0
# A busy host may need long to deliver what a buffer holds; close() waits no longer than needed.
LINGER_S = 60


def joined(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.join(WITHIN_S)
        assert not thread.is_alive()


def started(
    call: Callable[..., Any], *words: Any, **named: Any
) -> tuple[threading.Thread, list[Any]]:
    """A thread and the list its result, or error, will be in."""
    results: list[Any] = []

    def run() -> None:
        try:
            results.append(call(*words, **named))
        except udt.UdtError as error:
            results.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, results


def connected(family: int = sockets.AF_INET, **options: int) -> tuple[Any, Any]:
    """Both ends of a connection: (connecting, accepted)."""
    wanted = {Option[name]: value for name, value in options.items()}
    listener, near = udt.Socket(family), udt.Socket(family)
    with listener:
        listener.configure(wanted)
        near.configure(wanted)
        listener.bind((HOST[family], 0))
        listener.listen()
        near.connect((HOST[family], listener.local_address()[1]))
        far, address = listener.accept(WITHIN_S)
        assert address == near.local_address()
        return near, far


@pytest.fixture
def pair() -> Iterator[tuple[Any, Any]]:
    near, far = connected()
    with near, far:
        yield near, far


def everything(socket: Any) -> bytes:
    parts = []
    while True:
        try:
            parts.append(socket.recv(1 << 16))
        except udt.UdtClosed:
            return b"".join(parts)


def round_trip(near: Any, far: Any, data: bytes) -> None:
    near.set(Option.LINGER, LINGER_S)
    thread, results = started(everything, far)
    rest = data
    while rest:
        rest = rest[near.send(rest) :]
    near.close()
    joined([thread])
    assert results == [data]


def test_data_arrive_byte_for_byte(pair: tuple[Any, Any]) -> None:
    round_trip(*pair, random.Random(1).randbytes(5_000_003))


def test_ipv6() -> None:
    try:
        with sockets.socket(sockets.AF_INET6, sockets.SOCK_DGRAM) as probe:
            probe.bind(("::1", 0))
    except OSError:
        pytest.skip("no IPv6 loopback")
    near, far = connected(sockets.AF_INET6)
    with near, far:
        assert near.peer_address() == far.local_address() or far.local_address()[0] == "::"
        round_trip(near, far, random.Random(2).randbytes(100_001))


def test_an_unsupported_family() -> None:
    with pytest.raises(ValueError, match="AF_INET"):
        udt.Socket(sockets.AF_UNIX)


def test_options_read_back() -> None:
    with udt.Socket() as socket:
        for option, value in {
            Option.MSS: 9000,
            Option.SNDSYN: False,
            Option.RCVSYN: False,
            Option.FC: 4096,
            Option.LINGER: 7,
            Option.UDP_SNDBUF: 100_000,
            Option.UDP_RCVBUF: 200_000,
            Option.RENDEZVOUS: True,
            Option.SNDTIMEO: 250,
            Option.RCVTIMEO: -1,
            Option.REUSEADDR: False,
            Option.MAXBW: 5_000_000_000,
        }.items():
            socket.set(option, value)
            assert socket.get(option) == value, option
        assert socket.get(Option.STATE) == udt.State.INIT


def test_linger_is_off_at_first() -> None:
    with udt.Socket() as socket:
        assert socket.get(Option.LINGER) == 0


def test_options_are_set_in_the_order_that_keeps_them_whole() -> None:
    # In the order given, the buffer would be cut to the old FC and counted in old packets.
    wanted = {Option.RCVBUF: 8972 * 30_000, Option.FC: 30_000, Option.MSS: 9000}
    with udt.Socket() as socket:
        assert socket.configure(wanted) == wanted


def test_what_libudt_clamps_is_reported() -> None:
    with udt.Socket() as socket:
        made = socket.configure({Option.MSS: 1500, Option.FC: 1, Option.RCVBUF: 10_000_000})
    assert made == {Option.MSS: 1500, Option.FC: 32, Option.RCVBUF: 32 * 1472}


@pytest.mark.parametrize(
    ("option", "value"),
    [
        (Option.MSS, 65536),
        (Option.MSS, 75),
        (Option.FC, 2**31),
        (Option.MAXBW, 2**63),
        (Option.LINGER, -1),
        (Option.CC, 0),
    ],
)
def test_values_that_cannot_work(option: Any, value: int) -> None:
    with udt.Socket() as socket, pytest.raises(ValueError, match=option.name):
        socket.set(option, value)


@pytest.mark.parametrize(
    ("option", "value", "code"),
    [(Option.FC, 0, 5003), (Option.SNDBUF, 0, 5003), (Option.STATE, 1, 5000)],
)
def test_values_that_libudt_refuses(option: Any, value: int, code: int) -> None:
    with udt.Socket() as socket, pytest.raises(udt.UdtError) as caught:
        socket.set(option, value)
    assert caught.value.code == code
    assert caught.value.text
    assert isinstance(caught.value, OSError)


def test_the_mss_is_too_late_once_bound() -> None:
    with udt.Socket() as socket:
        socket.bind(("127.0.0.1", 0))
        with pytest.raises(udt.UdtError):
            socket.set(Option.MSS, 9000)


def test_the_smaller_mss_counts() -> None:
    with udt.Socket() as listener, udt.Socket() as near:
        listener.set(Option.MSS, 1400)
        near.set(Option.MSS, 9000)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        near.connect(listener.local_address())
        far, _ = listener.accept(WITHIN_S)
        with far:
            assert near.get(Option.MSS) == far.get(Option.MSS) == 1400


def test_an_accepted_socket_waits_and_has_its_listeners_options() -> None:
    near, far = connected(MSS=4000, FC=1000, RCVBUF=3972 * 100)
    with near, far:
        assert far.get(Option.RCVSYN)
        assert (far.get(Option.MSS), far.get(Option.RCVBUF)) == (4000, 3972 * 100)


def closed_port() -> int:
    with sockets.socket(sockets.AF_INET, sockets.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 0))
        return int(udp.getsockname()[1])


def test_nobody_listens() -> None:
    with udt.Socket() as socket:
        thread, results = started(socket.connect, ("127.0.0.1", closed_port()))
        joined([thread])
    assert [error.code for error in results] == [1001]


def test_connect_gives_up_when_told() -> None:
    with udt.Socket() as socket:
        with pytest.raises(udt.UdtTimeout):
            socket.connect(("127.0.0.1", closed_port()), 0.2)
        assert socket.closed


def test_connect_within_its_time() -> None:
    with udt.Socket() as listener, udt.Socket() as near:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        near.connect(listener.local_address(), WITHIN_S)
        far, _ = listener.accept(WITHIN_S)
        with far:
            assert near.get(Option.STATE) == udt.State.CONNECTED


def test_a_port_in_use() -> None:
    with sockets.socket(sockets.AF_INET, sockets.SOCK_DGRAM) as udp, udt.Socket() as socket:
        udp.bind(("127.0.0.1", 0))
        with pytest.raises(udt.UdtError) as caught:
            socket.bind(udp.getsockname())
    assert caught.value.code // 1000 == 1


def test_accept_gives_up() -> None:
    with udt.Socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        with pytest.raises(udt.UdtTimeout) as caught:
            listener.accept(0.05)
    assert isinstance(caught.value, TimeoutError)


def test_close_wakes_accept() -> None:
    listener = udt.Socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    thread, results = started(listener.accept)
    time.sleep(0.02)
    listener.close()
    joined([thread])
    assert isinstance(results[0], udt.UdtClosed)


def test_bound_onto_our_own_udp_socket() -> None:
    udp = sockets.socket(sockets.AF_INET, sockets.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    address = udp.getsockname()
    with udt.Socket() as listener, udt.Socket() as near:
        listener.bind_onto(udp)
        assert udp.fileno() == -1
        assert listener.local_address() == address
        listener.listen()
        near.connect(address)
        far, _ = listener.accept(WITHIN_S)
        with far:
            round_trip(near, far, b"through our own port")


def test_a_tcp_socket_is_not_bound_onto() -> None:
    with sockets.socket() as tcp, udt.Socket() as socket, pytest.raises(ValueError, match="UDP"):
        socket.bind_onto(tcp)


def test_recv_gives_up(pair: tuple[Any, Any]) -> None:
    near, _ = pair
    near.set(Option.RCVTIMEO, 50)
    with pytest.raises(udt.UdtTimeout):
        near.recv(10)


def test_the_peers_close_is_the_normal_end(pair: tuple[Any, Any]) -> None:
    near, far = pair
    near.close()
    near.close()
    with pytest.raises(udt.UdtClosed):
        far.recv(10)


def test_a_long_closed_connection_is_still_a_closed_one(pair: tuple[Any, Any]) -> None:
    near, far = pair
    near.close()
    until = time.monotonic() + WITHIN_S
    codes = {2001}
    # libudt answers differently once its collector has taken the socket away.
    while codes == {2001} and time.monotonic() < until:
        with pytest.raises(udt.UdtClosed) as caught:
            far.recv(10)
        codes.add(caught.value.code)
        time.sleep(0.1)
    assert len(codes) == 2


@pytest.mark.parametrize(("mss", "payloads"), [(1500, 1), (9000, 5), (65535, 2)])
def test_the_loops_count_the_same(mss: int, payloads: int, send_blocks: Callable[..., Any]) -> None:
    # What the sender's buffer holds counts as sent; its default could hold half a gigabyte here.
    near, far = connected(MSS=mss, SNDBUF=16 << 20)
    sent, received = udt.Counter(), udt.Counter()
    block = payloads * (mss - udt.HEADER_BYTES)
    with near, far:
        near.set(Option.LINGER, LINGER_S)
        sink, ends = started(udt.receive_blocks, far, block, received)
        end = send_blocks(near, bytes(block), sent, until=time.monotonic() + 0.3)
        assert end == udt.End.STOPPED
        near.close()
        joined([sink])
    assert ends == [udt.End.CLOSED]
    assert 0 < sent.bytes == received.bytes


def test_the_loop_sends_its_block(pair: tuple[Any, Any], send_blocks: Callable[..., Any]) -> None:
    near, far = pair
    block, counter = random.Random(3).randbytes(1456), udt.Counter()
    near.set(Option.LINGER, LINGER_S)
    thread, results = started(everything, far)
    send_blocks(near, block, counter, until=time.monotonic() + 0.02)
    near.close()
    joined([thread])
    assert counter.bytes > 0
    assert results == [block * (counter.bytes // 1456)]


def test_the_counters_are_read_by_another_thread(
    pair: tuple[Any, Any], send_blocks: Callable[..., Any]
) -> None:
    near, far = pair
    sent, received, stop = udt.Counter(), udt.Counter(), threading.Event()
    source, source_ends = started(send_blocks, near, bytes(1456), sent, stop=stop.is_set)
    sink, sink_ends = started(udt.receive_blocks, far, 1456, received)
    seen: tuple[list[int], list[int]] = ([], [])
    until = time.monotonic() + 20  # libudt may stand still in between.
    while min(len(set(counts)) for counts in seen) < 5 and time.monotonic() < until:
        time.sleep(0.05)
        seen[0].append(sent.bytes)
        seen[1].append(received.bytes)
    stop.set()
    joined([source])
    near.close()
    joined([sink])
    assert (source_ends, sink_ends) == ([udt.End.STOPPED], [udt.End.CLOSED])
    for counts in seen:
        assert counts == sorted(counts)
        assert len(set(counts)) >= 5


def test_a_sender_that_stands_still_stops(
    pair: tuple[Any, Any], send_blocks: Callable[..., Any]
) -> None:
    # Nobody reads at the other end, so that every buffer fills and send waits.
    near, _ = pair
    counter = udt.Counter()
    thread, ends = started(
        send_blocks, near, bytes(1456 * 25), counter, until=time.monotonic() + 1.0
    )
    joined([thread])
    assert ends == [udt.End.STOPPED]


def test_a_receiver_without_data_stops(pair: tuple[Any, Any]) -> None:
    _, far = pair
    stop = threading.Event()
    thread, ends = started(udt.receive_blocks, far, 1456, udt.Counter(), stop=stop.is_set)
    time.sleep(0.05)
    stop.set()
    joined([thread])
    assert ends == [udt.End.STOPPED]


def test_closing_from_another_thread_ends_both_loops(
    pair: tuple[Any, Any], send_blocks: Callable[..., Any]
) -> None:
    near, far = pair
    source, source_ends = started(send_blocks, near, bytes(1456), udt.Counter())
    sink, sink_ends = started(udt.receive_blocks, far, 1456, udt.Counter())
    time.sleep(0.1)
    far.close()
    joined([sink, source])
    assert (source_ends, sink_ends) == ([udt.End.CLOSED], [udt.End.CLOSED])


def test_the_loops_after_the_end(pair: tuple[Any, Any], send_blocks: Callable[..., Any]) -> None:
    near, far = pair
    near.close()
    counter = udt.Counter()
    assert send_blocks(near, b"x", counter) == udt.End.CLOSED
    assert udt.receive_blocks(near, 1, counter) == udt.End.CLOSED
    assert udt.receive_blocks(far, 1, counter) == udt.End.CLOSED
    assert counter.bytes == 0


def test_a_loop_on_a_socket_that_never_connected(send_blocks: Callable[..., Any]) -> None:
    with udt.Socket() as socket, pytest.raises(udt.UdtError) as caught:
        send_blocks(socket, b"x", udt.Counter())
    assert not isinstance(caught.value, udt.UdtClosed)


def test_an_empty_block(pair: tuple[Any, Any], send_blocks: Callable[..., Any]) -> None:
    near, far = pair
    with pytest.raises(ValueError, match="0 bytes"):
        send_blocks(near, b"", udt.Counter())
    with pytest.raises(ValueError, match="0 bytes"):
        udt.receive_blocks(far, 0, udt.Counter())


def test_perf_is_plausible(pair: tuple[Any, Any], send_blocks: Callable[..., Any]) -> None:
    near, far = pair
    sink, _ = started(udt.receive_blocks, far, 1456, udt.Counter())
    send_blocks(near, bytes(1456), udt.Counter(), until=time.monotonic() + 0.3)
    here, there = near.perf(clear=True), far.perf()
    assert here.pkt_sent_total >= here.pkt_sent > 0
    assert there.pkt_recv_total > 0
    assert here.pkt_retrans_total >= 0
    assert 0 < here.ms_rtt < 1000
    assert here.us_pkt_snd_period > 0
    assert here.pkt_flow_window >= 0
    assert 0 < here.ms_time_stamp < 60_000
    time.sleep(0.3)
    assert near.perf().pkt_sent < near.perf().pkt_sent_total
    near.close()
    joined([sink])
    with pytest.raises(udt.UdtClosed):
        near.perf()


def test_perf_before_a_connection() -> None:
    with udt.Socket() as socket, pytest.raises(udt.UdtError) as caught:
        socket.perf()
    assert caught.value.code == 2002


def test_the_statistics_have_libudts_layout() -> None:
    assert ctypes.sizeof(udt.perf.TraceInfo) == 184
    assert len(udt.perf.TraceInfo._fields_) == len(udt.Perf.__slots__)
    for (name, _), field in zip(udt.perf.TraceInfo._fields_, udt.Perf.__slots__, strict=True):
        assert name.lower() == field.replace("_", "")


def test_an_absent_libudt_names_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    other = load("pyudt_without_libudt")
    monkeypatch.setattr(other.native, "_SONAME", "libudt-that-is-not-there.so.0")
    with pytest.raises(OSError, match="apt-get install libudt0") as caught:
        other.Socket()
    assert isinstance(caught.value, other.UdtMissing)


def test_a_process_ends_with_everything_left_open() -> None:
    script = f"""
import importlib.util, sys, threading, time
spec = importlib.util.spec_from_file_location(
    "pyudt", {str(BINDING / "__init__.py")!r}, submodule_search_locations=[{str(BINDING)!r}]
)
udt = sys.modules["pyudt"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(udt)
listener, near = udt.Socket(), udt.Socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
near.connect(listener.local_address())
far, _ = listener.accept(5)
threading.Thread(target=udt.receive_blocks, args=(far, 1, udt.Counter()), daemon=True).start()
threading.Thread(target=udt.send_blocks, args=(near, b"x", udt.Counter()), daemon=True).start()
time.sleep(0.1)
print("done")
"""
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=WITHIN_S
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done\n", "")


def test_a_helper_that_cannot_be_loaded_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As from a cache on a file system that is mounted noexec."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    plugin = sys.modules[type(registry.transport("udt")).__module__]
    broken = tmp_path / "repeat.so"
    broken.write_bytes(b"no library")
    assert plugin._loadable(broken) is None
    assert plugin._loadable(None) is None
    compiled = shared_library(udt.REPEAT_SOURCE)
    assert plugin._loadable(compiled) == compiled
