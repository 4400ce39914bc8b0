"""`advisor lab check`: a real emulated path, measured."""

import json
import signal
from pathlib import Path
from typing import Any

from .conftest import Lab, NewLab, Start, children_left, wait_until

_TRIES = 5
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


def checked(lab: Lab, *words: str) -> dict[str, Any]:
    """What a check finds. A machine that has others to serve is late for a while, as it says."""
    for _ in range(_TRIES):
        done = lab.run("check", "--json", *words)
        found: dict[str, Any] = json.loads(done.stdout)
        if found["verdict"] != "too slow":
            break
    assert (found["verdict"], found["why"]) == ("within", ""), done.stdout
    assert done.returncode == 0
    return found


def test_a_path_is_what_was_asked_until_it_is_cut(new_lab: NewLab) -> None:
    lab = new_lab().up(*PATH, "--loss", "1%")
    found = checked(lab)
    assert abs(found["rtt"]["measured_s"] - 0.02) < 0.0009
    for way in (found["forward"], found["reverse"]):
        assert way["rate"]["asked_bps"] == 1e8
        assert abs(way["rate"]["measured_bps"] / 0.99e8 - 1) < 0.033
        assert way["rate"]["offered_bps"] > 1.02e8
        lower, upper = way["loss"]["interval"]
        assert lower <= 0.01 <= upper
        assert upper - lower < 0.01
    lab.do("cut")
    done = lab.run("check")
    assert done.returncode == 2
    assert f"the path to far is cut: 'advisor lab restore {lab.name}'" in done.stderr
    assert "Traceback" not in done.stderr


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


def test_one_of_several_hosts_is_chosen(new_lab: NewLab) -> None:
    lab = new_lab().up(*PATH, "--hosts", "near,far")
    done = lab.run("check")
    assert done.returncode == 2
    assert "say which of near, far" in done.stderr
    lab.do("set", "--host", "far", "--rtt", "40ms")
    found = checked(lab, "--host", "far")
    assert found["host"] == "far"
    assert abs(found["rtt"]["measured_s"] - 0.04) < 0.0013


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
