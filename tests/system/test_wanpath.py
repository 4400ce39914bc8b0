"""What the emulated path does to packets: counted, not timed, wherever that is possible."""

import json
import math
import statistics
import sys
import tempfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from tests.again import measured_until

from .labs import Lab, NewLab, labs_below

# Hears numbered datagrams until its input has ended and then half a second passes without one:
# [[number, length, seconds], …]
RECEIVER = """
import json, select, socket, sys, time
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    s.bind(("0.0.0.0", int(sys.argv[1])))
    print("ready")
    heard = []
    while True:
        ready, _, _ = select.select([s, sys.stdin], [], [])
        if s not in ready:
            break
        data = s.recv(65536)
        heard.append([int(data[:8]), len(data), time.monotonic()])
    while select.select([s], [], [], 0.5)[0]:
        data = s.recv(65536)
        heard.append([int(data[:8]), len(data), time.monotonic()])
    print(json.dumps(heard))
"""
# Sends a number of datagrams of a length; after each batch of them it waits for a time.
SENDER = """
import socket, sys, time
address, port, first, count, length, batch, wait_s = sys.argv[1:]
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
    for i in range(int(count)):
        number = b"%08d" % (int(first) + i)
        s.sendto(number.ljust(int(length), b"."), (address, int(port)))
        if (i + 1) % int(batch) == 0:
            time.sleep(float(wait_s))
"""
# Sends every datagram back to where it came from.
ECHO = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    s.bind(("0.0.0.0", int(sys.argv[1])))
    print("ready")
    while True:
        s.sendto(*s.recvfrom(65536))
"""
# Sends this many datagrams there and prints the fastest round trip in milliseconds.
PING = """
import socket, sys, time
address, port, count, timeout_s = sys.argv[1:]
fastest_s = float("inf")
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    s.settimeout(float(timeout_s))
    for _ in range(int(count)):
        began_s = time.monotonic()
        s.sendto(b"x", (address, int(port)))
        try:
            s.recv(10)
            fastest_s = min(fastest_s, time.monotonic() - began_s)
        except TimeoutError:
            pass
print(fastest_s * 1e3)
"""
# Sends one datagram that must not be cut into pieces.
WHOLE = """
import socket, sys
IP_MTU_DISCOVER, IP_PMTUDISC_DO = 10, 2
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    s.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
    s.sendto(b"00000000".ljust(int(sys.argv[3]), b"."), (sys.argv[1], int(sys.argv[2])))
"""
HEADERS_BYTES = 28
PORT = "7007"
ECHO_PORT = "7008"


class Listener:
    """Hears datagrams on a host until it is asked what it heard, and half a second more."""

    def __init__(self, lab: Lab, host: str = "far") -> None:
        self._process = lab.python(host, RECEIVER, PORT)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"

    def heard(self) -> list[tuple[int, int, float]]:
        out, _ = self._process.communicate(timeout=40)
        return [tuple(one) for one in json.loads(out)]

    def numbers(self) -> list[int]:
        return [number for number, _, _ in self.heard()]


def send(
    lab: Lab,
    count: int,
    *,
    length: int = 100,
    first: int = 0,
    batch: int = 20,
    wait_s: float = 0.003,
    to: str = "10.77.1.1",
    host: str = "source",
) -> None:
    """Slowly enough that nothing waits where it is not meant to, unless asked to."""
    words = [to, PORT, first, count, length, batch, wait_s]
    with lab.python(host, SENDER, *map(str, words)) as process:
        assert process.wait(timeout=40) == 0


def far(lab: Lab, which: int = 0) -> dict[str, Any]:
    host: dict[str, Any] = lab.status()["hosts"][which]
    return host


def ping_ms(lab: Lab, count: int = 3, timeout_s: float = 1.0) -> float:
    """The fastest of these round trips; infinite where none came back."""
    echo = lab.python("far", ECHO, ECHO_PORT)
    assert echo.stdout is not None
    assert echo.stdout.readline() == "ready\n"
    pings = lab.python("source", PING, "10.77.1.1", ECHO_PORT, str(count), str(timeout_s))
    fastest, _ = pings.communicate(timeout=40)
    with echo:
        echo.kill()
    return float(fastest)


def fits(lab: Lab, address: str, packet_bytes: int) -> bool:
    """Whether a packet of that size gets to a host in one piece."""
    words = [address, PORT, str(packet_bytes - HEADERS_BYTES)]
    done = lab.run("exec", "--", sys.executable, "-c", WHOLE, *words)
    assert "Message too long" in done.stderr or not done.returncode
    return not done.returncode


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="adv") as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def shared(home: Path, lab_cache: Path) -> Iterator[Lab]:
    """One lab for all tests that only change its path."""
    with labs_below(home, lab_cache) as new:
        yield new().up("--mtu", "1500")


@pytest.fixture
def wan(shared: Lab) -> Lab:
    """A clean path of 1 Gbit/s and 10 ms."""
    shared.end_programs()
    shared.do("restore")
    clean = ["--loss", "0", "--burst", "1", "--jitter", "0", "--no-reordering", "--queue", "10MB"]
    shared.do("set", *clean, "--rate", "1Gbit", "--rtt", "10ms")
    return shared


@pytest.fixture
def new(home: Path, lab_cache: Path) -> Iterator[NewLab]:
    with labs_below(home, lab_cache) as new:
        yield new


@pytest.mark.figures
def test_a_clean_path_loses_nothing_and_keeps_the_order(wan: Lab) -> None:
    before = far(wan)["forward"]
    listener = Listener(wan)
    send(wan, 2000)
    assert listener.numbers() == list(range(2000))
    after = far(wan)["forward"]
    assert after["packets"] - before["packets"] == 2000
    assert after["bytes"] - before["bytes"] == 2000 * (100 + HEADERS_BYTES)
    assert (after["dropped"], after["lost"]) == (before["dropped"], before["lost"])


@pytest.mark.figures
def test_the_delay_is_there_and_can_be_changed(wan: Lab) -> None:
    # Never early; how late is for the benchmarks.
    assert measured_until(lambda ms: ms < 25, lambda: ping_ms(wan, 5)) >= 10
    wan.do("set", "--rtt", "80ms")
    assert measured_until(lambda ms: ms < 100, lambda: ping_ms(wan, 5)) >= 80


@pytest.mark.figures
def test_the_rate_is_not_exceeded_and_is_reached(wan: Lab) -> None:
    wan.do("set", "--rate", "2Mbit")
    packets, length = 200, 972 + HEADERS_BYTES

    def took_s() -> float:
        listener = Listener(wan)
        send(wan, packets, length=972, batch=packets)
        heard = listener.heard()
        assert [number for number, _, _ in heard] == list(range(packets))
        return heard[-1][2] - heard[0][2]

    expected_s = (packets - 1) * length * 8 / 2e6
    measured_until(lambda s: 0.97 * expected_s < s < 1.3 * expected_s, took_s)


@pytest.mark.figures
@pytest.mark.parametrize("queued", [1, 20, 60])
def test_a_full_queue_drops_what_comes_last(wan: Lab, queued: int) -> None:
    """1000 bytes take 8 ms to leave; a burst of 100 comes within a few of these."""
    wan.do("set", "--rate", "1Mbit", "--queue", str(queued * 1000))
    before = far(wan)["forward"]
    listener = Listener(wan)
    send(wan, 100, length=1000 - HEADERS_BYTES, batch=100)
    numbers = listener.numbers()
    assert queued <= len(numbers) <= queued + 3
    assert numbers[:queued] == list(range(queued))
    after = far(wan)["forward"]
    assert after["packets"] - before["packets"] == len(numbers)
    assert after["dropped"] - before["dropped"] == 100 - len(numbers)


def test_a_rate_raised_again_lets_what_waits_go_at_the_new_rate(wan: Lab) -> None:
    """Half a minute of packets waits at the slow rate; nobody has to wait for it afterwards."""
    wan.do("set", "--rate", "100kbit")
    listener = Listener(wan)
    send(wan, 400, length=972, batch=400)
    wan.do("set", "--rate", "1Gbit")
    send(wan, 1, first=400)
    assert listener.numbers() == list(range(401))


def lost(lab: Lab, count: int) -> list[int]:
    listener = Listener(lab)
    send(lab, count)
    came = listener.numbers()
    assert came == sorted(came)
    return sorted(set(range(count)) - set(came))


@pytest.mark.figures
def test_the_same_seed_loses_the_same_packets(new: NewLab) -> None:
    def fresh(seed: str) -> list[int]:
        return lost(new().up("--mtu", "1500", "--loss", "10%", "--seed", seed), 600)

    first = fresh("7")
    assert 30 < len(first) < 90  # Four standard deviations.
    assert fresh("7") == first
    assert fresh("8") != first


@pytest.mark.figures
def test_loss_comes_one_by_one_or_in_bursts(wan: Lab) -> None:
    def runs(numbers: list[int]) -> list[int]:
        together = groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])
        return [len(list(run)) for _, run in together]

    wan.do("set", "--forward", "--loss", "10%")
    single = lost(wan, 3000)
    assert 230 < len(single) < 370
    # Independent loss of a tenth: runs of 1.11 on average.
    assert 1.0 < statistics.mean(runs(single)) < 1.25
    wan.do("set", "--forward", "--burst", "8")
    bursts = lost(wan, 6000)
    assert 300 < len(bursts) < 1000
    assert 5 < statistics.mean(runs(bursts)) < 12


@pytest.mark.figures
def test_jitter_keeps_the_order_unless_told_otherwise(wan: Lab) -> None:
    wan.do("set", "--jitter", "20ms")
    listener = Listener(wan)
    send(wan, 500)
    assert listener.numbers() == list(range(500))
    wan.do("set", "--reordering")
    listener = Listener(wan)
    send(wan, 500)
    numbers = listener.numbers()
    assert sorted(numbers) == list(range(500))
    assert numbers != sorted(numbers)


def test_cut_and_restored(wan: Lab) -> None:
    listener = Listener(wan)
    before = far(wan)["forward"]["cut"]
    send(wan, 50)
    wan.do("cut")
    send(wan, 50, first=50)
    assert ping_ms(wan, 1, 0.5) == math.inf
    seen = far(wan)
    assert seen["is_cut"]
    assert seen["forward"]["cut"] - before == 51
    assert "CUT" in wan.do("status")
    wan.do("restore")
    send(wan, 50, first=100)
    assert listener.numbers() == [*range(50), *range(100, 150)]
    assert not far(wan)["is_cut"]


@pytest.mark.parametrize(("which", "other"), [("forward", "reverse"), ("reverse", "forward")])
def test_each_direction_on_its_own(wan: Lab, which: str, other: str) -> None:
    before = far(wan)
    wan.do("set", f"--{which}", "--loss", "50%", "--rate", "500Mbit")
    assert ping_ms(wan, 100, 0.05) < 50
    after = far(wan)
    assert after["path"][which]["loss"] == 0.5
    assert after["path"][which]["rate_bps"] == 500e6
    assert after["path"][other] == before["path"][other]
    assert 25 < after[which]["lost"] - before[which]["lost"] < 75
    assert after[other]["lost"] == before[other]["lost"]


def test_no_packet_is_larger_than_the_mtu(new: NewLab) -> None:
    """Also where another host's path takes larger ones; UDP is cut into pieces, TCP fitted."""
    lab = new().up("--hosts", "small,large", "--mtu", "1500")
    assert "mtu 1500" in lab.do("exec", "--", "ip", "link", "show", "wan0")
    assert fits(lab, "small", 1500)
    assert not fits(lab, "small", 1501)
    before = far(lab)["forward"]
    listener = Listener(lab, "small")
    send(lab, 10, length=5000)
    assert [length for _, length, _ in listener.heard()] == [5000] * 10
    after = far(lab)["forward"]
    # 5008 bytes of payload in pieces of 1480: four packets, each with an IP header.
    assert after["packets"] - before["packets"] == 40
    assert after["bytes"] - before["bytes"] == 10 * (5008 + 4 * 20)
    lab.do("load", "--transfers", "2")
    lab.do("exec", "--", "sleep", "1")
    lab.do("load", "--transfers", "0")
    stream = far(lab)["forward"]
    carried = stream["packets"] - after["packets"]
    assert carried > 1000
    assert 1000 < (stream["bytes"] - after["bytes"]) / carried <= 1500


def test_hosts_of_different_mtus(new: NewLab, tmp_path: Path) -> None:
    for name, mtu in (("small", 1500), ("large", 9000)):
        (tmp_path / f"{name}.toml").write_text(f"mtu = {mtu}\nrtt = '2ms'\n")
    hosts = ",".join(f"{name}={tmp_path}/{name}.toml" for name in ("small", "large"))
    lab = new().up("--hosts", hosts)
    for host, mtu in (("small", 1500), ("large", 9000)):
        listener = Listener(lab, host)
        assert fits(lab, host, mtu)
        assert not fits(lab, host, mtu + 1)
        assert [length for _, length, _ in listener.heard()] == [mtu - HEADERS_BYTES]


def test_the_hosts_of_a_mesh_reach_each_other_over_the_paths_of_both(new: NewLab) -> None:
    lab = new().up("--hosts", "a,b,c", "--mesh", "--mtu", "1500", "--rtt", "10ms")
    before = lab.status()["hosts"]
    listener = Listener(lab, "b")
    send(lab, 500, host="a", to="b")
    assert listener.numbers() == list(range(500))

    def more(which: int, direction: str) -> int:
        packets = [hosts[which][direction]["packets"] for hosts in (before, after)]
        return int(packets[1] - packets[0])

    after = lab.status()["hosts"]
    ways = [(n, way) for n in range(3) for way in ("forward", "reverse")]
    assert {way: more(*way) for way in ways if more(*way)} == {
        (0, "reverse"): 500,
        (1, "forward"): 500,
    }
    echo = lab.python("c", ECHO, ECHO_PORT)
    assert echo.stdout is not None
    assert echo.stdout.readline() == "ready\n"
    pings = lab.python("b", PING, "c", ECHO_PORT, "5", "1")
    fastest_ms = float(pings.communicate(timeout=40)[0])
    assert 20 <= fastest_ms < math.inf


def test_without_a_mesh_they_reach_the_source_only(new: NewLab) -> None:
    lab = new().up("--hosts", "a,b", "--mtu", "1500")
    words = ["b", PORT, "0", "1", "100", "1", "0"]
    done = lab.run("exec", "--host", "a", "--", sys.executable, "-c", SENDER, *words)
    assert "Network is unreachable" in done.stderr
