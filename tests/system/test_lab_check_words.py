"""What `advisor lab check` says where a path cannot be measured, whatever else runs here."""

import signal
from pathlib import Path

from .labs import NewLab
from .program import Start, children_left, wait_until

PATH = ["--rtt", "20ms", "--rate", "100Mbit", "--mtu", "1500"]

# A datagram every other millisecond to nobody, from a line of output on.
TRAFFIC = """
import socket, time
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    print("ready")
    while True:
        s.sendto(bytes(1000), ("10.77.1.1", 9))
        time.sleep(0.002)
"""


def test_both_sides_are_shown_and_a_machine_too_slow_is_called_so(new_lab: NewLab) -> None:
    lab = new_lab().up(*PATH, "--rate", "100Gbit")
    done = lab.run("check")
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert lines[2].split() == ["asked", "measured", "verdict"]
    rows = {" ".join(line.split()[:2]) for line in lines}
    assert {"RTT 20", "rate there", "rate back", "loss there", "loss back"} <= rows
    assert "This machine is too slow for this path" in lines[-1]


def test_only_an_idle_path_is_checked(new_lab: NewLab) -> None:
    lab = new_lab().up(*PATH)
    lab.do("load", "--transfers", "1")
    done = lab.run("check")
    assert done.returncode == 2
    assert "external load is on" in done.stderr
    lab.do("load", "--transfers", "0")
    traffic = lab.python("source", TRAFFIC)
    assert traffic.stdout is not None
    assert traffic.stdout.readline()
    done = lab.run("check")
    assert done.returncode == 2
    assert "the path is not idle" in done.stderr


def test_ctrl_c_leaves_nothing_running(new_lab: NewLab, start: Start, tmp_path: Path) -> None:
    lab = new_lab().up(*PATH)
    run = start("lab", "check", lab.name)

    def programs() -> list[str]:
        return [line for line in children_left(tmp_path) if "advisor.lab.flood" in line]

    assert wait_until(lambda: any(" send " in line for line in programs()))
    run.process.send_signal(signal.SIGINT)
    done = run.finish()
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    assert wait_until(lambda: not programs()), programs()
