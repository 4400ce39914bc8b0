"""Labs whose paths the kernel's netem emulates: what was asked is what there is.

Skipped where the kernel has no netem.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.again import measured_until

from .labs import Lab, NewLab, labs_below, need_labs
from .program import wait_until

pytestmark = pytest.mark.figures

# Slow enough for any machine; the queue of 100 packets makes for 60 ms.
PATH = ["--rate", "20Mbit", "--rtt", "40ms", "--mtu", "1500", "--queue", "150000"]

ECHO = """
import socket, statistics, struct, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
s.settimeout(1)
s.connect((socket.gethostbyname("far"), 0))
times = []
for i in range(int(sys.argv[1])):
    began = time.monotonic()
    s.send(struct.pack("!BBHHH", 8, 0, 0, 0, i) + bytes(int(sys.argv[2])))
    try:
        while struct.unpack("!H", s.recv(70000)[6:8])[0] != i:
            pass
        times.append(time.monotonic() - began)
    except TimeoutError:
        pass
print(len(times), statistics.median(times) if times else 0)
"""
# As many bytes to far as the path carries, for this many seconds; the sink says at which rate.
SINK = """
import socket, time
s = socket.create_server(("", 5000))
print("ready", flush=True)
c = s.accept()[0]
total, began = 0, time.monotonic()
while data := c.recv(1 << 20):
    total += len(data)
print(total * 8 / (time.monotonic() - began))
"""
SOURCE = """
import socket, sys, time
s = socket.create_connection(("far", 5000))
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    s.sendall(bytes(65536))
s.close()
"""
UDP = """
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
far = (socket.gethostbyname("far"), 9)  # Not connected: that nobody listens there is no error.
for i in range(int(sys.argv[1])):
    s.sendto(bytes(int(sys.argv[2])), far)
    if i % 20 == 19:
        time.sleep(float(sys.argv[3]))
"""


_missing: list[str] = []
"""Why there is no netem, once that is known: each test would try again otherwise."""


@pytest.fixture
def netem_lab(tmp_path: Path) -> Iterator[Lab]:
    if _missing:
        pytest.skip(_missing[0])
    need_labs()
    with labs_below(tmp_path, tmp_path / "cache") as new:
        lab = new()
        made = lab.run("up", "--backend", "netem", *PATH)
        if made.returncode and "has no usable netem" in made.stderr:
            _missing.append(made.stderr.strip())
            pytest.skip(_missing[0])
        assert made.returncode == 0, made.stderr
        yield lab


def output_of(lab: Lab, host: str, program: str, *words: str) -> str:
    process = lab.python(host, program, *words)
    out, _ = process.communicate(timeout=60)
    return out


def forward(lab: Lab) -> dict[str, Any]:
    crossing: dict[str, Any] = lab.status()["hosts"][0]["forward"]
    return crossing


def test_it_says_which_it_is_and_needs_no_compiler(netem_lab: Lab) -> None:
    status = netem_lab.status()
    assert status["backend"] == "netem"
    assert status["lateness"] is None
    assert not (netem_lab.home / "cache").exists()


def test_the_delay_and_the_time_on_the_wire(netem_lab: Lab) -> None:
    def takes(rtt_s: float, payload: str) -> None:
        def measure() -> tuple[str, float]:
            came, took_s = output_of(netem_lab, "source", ECHO, "15", payload).split()
            return came, float(took_s)

        exact = ("15", pytest.approx(rtt_s, abs=0.006))
        measured_until(lambda one: one == exact, measure)

    takes(0.040, "36")
    # 1500 bytes are 0.6 ms at 20 Mbit/s, each way.
    takes(0.0412, "1472")
    netem_lab.do("set", "--rtt", "80ms")
    takes(0.080, "36")


def test_the_rate_is_that_of_the_ip_layer_and_packets_are_real(netem_lab: Lab) -> None:
    def rate_bps() -> float:
        sink = netem_lab.python("far", SINK)
        assert sink.stdout is not None
        sink.stdout.readline()
        output_of(netem_lab, "source", SOURCE, "6")
        return float(sink.communicate(timeout=60)[0])

    # Of 1500 bytes, 1448 are TCP's payload; the beginning is slow.
    measured_until(lambda bps: 16.5e6 < bps < 19.4e6, rate_bps)
    seen = forward(netem_lab)
    assert seen["lost"] == 0
    assert 1000 < seen["bytes"] / seen["packets"] <= 1500


def test_loss_in_bursts(netem_lab: Lab) -> None:
    netem_lab.do("set", "--forward", "--loss", "5%", "--burst", "3")
    output_of(netem_lab, "source", UDP, "6000", "100", "0.01")
    seen = forward(netem_lab)
    assert seen["dropped"] == 0
    assert seen["packets"] + seen["lost"] == 6000
    # 300 packets in 100 bursts: a standard deviation of some 13 percent.
    assert seen["lost"] == pytest.approx(300, rel=0.5)


def test_the_queue_is_full_after_as_many_bytes_as_it_was_given(netem_lab: Lab) -> None:
    # So slow that hardly any packet leaves while 300 of them come to a queue of 100.
    netem_lab.do("set", "--rate", "1Mbit")
    output_of(netem_lab, "source", UDP, "300", "1472", "0")
    assert wait_until(lambda: sum(forward(netem_lab)[n] for n in ("packets", "dropped")) == 300)
    assert forward(netem_lab)["packets"] == pytest.approx(105, abs=15)


def test_cut_and_restored(netem_lab: Lab) -> None:
    netem_lab.do("cut")
    came, _ = output_of(netem_lab, "source", ECHO, "2", "36").split()
    assert came == "0"
    seen = forward(netem_lab)
    assert seen["cut"] == 2
    assert seen["dropped"] == 0
    netem_lab.do("set", "--rate", "30Mbit")  # Does not restore it.
    assert output_of(netem_lab, "source", ECHO, "1", "36").split()[0] == "0"
    netem_lab.do("restore")
    assert output_of(netem_lab, "source", ECHO, "2", "36").split()[0] == "2"
    assert forward(netem_lab)["cut"] == 3


def test_several_hosts_share_the_sources_rate(netem_lab: Lab, new_lab: NewLab) -> None:
    words = ["--backend", "netem", "--hosts", "far,away", "--source-rate", "10Mbit", *PATH]
    lab = new_lab().up(*words)
    sink = lab.python("far", SINK)
    assert sink.stdout is not None
    sink.stdout.readline()
    output_of(lab, "source", SOURCE, "5")
    assert 7e6 < float(sink.communicate(timeout=60)[0]) < 9.7e6
    status = lab.status()
    assert status["own_forward"]["packets"] > 1000
    assert status["hosts"][1]["forward"]["packets"] == 0


def test_what_it_cannot_do_is_said(netem_lab: Lab, new_lab: NewLab) -> None:
    refused = netem_lab.run("set", "--queue", "2000")
    assert "two packets" in refused.stderr
    lab = new_lab().up(*PATH, "--queue", "2000")  # What it cannot do, ours does.
    assert lab.status()["backend"] == "own emulator"


def test_auto_takes_it(netem_lab: Lab, new_lab: NewLab) -> None:
    assert new_lab().up(*PATH).status()["backend"] == "netem"
