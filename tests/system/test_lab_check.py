"""`advisor lab check`: a real emulated path, measured."""

import json
from typing import Any

import pytest

from tests.again import measured_until

from .labs import Lab, NewLab

pytestmark = pytest.mark.figures

_TRIES = 5


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
    """That of the host that is asked for."""
    asked = ["--rtt", "20ms", "--rate", "100Mbit", "--mtu", "1500", "--loss", "1%"]
    lab = new_lab().up(*asked, "--hosts", "near,far")
    done = lab.run("check")
    assert done.returncode == 2
    assert "say which of near, far" in done.stderr
    lab.do("set", "--host", "far", "--rtt", "40ms")

    def held(found: dict[str, Any]) -> bool:
        near_rtt = abs(found["rtt"]["measured_s"] - 0.04) < 0.0013
        near_rate, near_loss = [], []
        for way in (found["forward"], found["reverse"]):
            near_rate.append(abs(way["rate"]["measured_bps"] / 0.99e8 - 1) < 0.033)
            lower, upper = way["loss"]["interval"]
            near_loss.append(lower <= 0.01 <= upper < lower + 0.01)
        return near_rtt and all(near_rate) and all(near_loss)

    found = measured_until(held, lambda: checked(lab, "--host", "far"))
    assert found["host"] == "far"
    for way in (found["forward"], found["reverse"]):
        assert way["rate"]["asked_bps"] == 1e8
        assert way["rate"]["offered_bps"] > 1.02e8
    lab.do("cut", "--host", "far")
    done = lab.run("check", "--host", "far")
    assert done.returncode == 2
    assert f"the path to far is cut: 'advisor lab restore {lab.name}'" in done.stderr
    assert "Traceback" not in done.stderr
