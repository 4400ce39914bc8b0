"""What is refused before anything of a lab is built."""

import pytest

from advisor.lab import lifecycle
from advisor.lab.lifecycle import Plan, bring_up
from advisor.lab.paths import EmulatedPath
from advisor.lab.schedule import parse_schedule
from advisor.lab.state import LabError


def _nothing_built(*_: object) -> str:
    raise AssertionError("the lab is being built")


@pytest.mark.parametrize("action", ["cut", "transfers 3", "loss 1%"])
def test_a_schedule_with_an_unknown_host_is_refused_before_the_lab_is_built(
    monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    monkeypatch.setattr(lifecycle, "_emulator", _nothing_built)
    steps = parse_schedule(f"at 0s: mason loss 3%\nat 60s: krakne {action}\n")
    paths = {"kraken": EmulatedPath(), "mason": EmulatedPath()}
    with pytest.raises(LabError, match="no host 'krakne': kraken, mason"):
        bring_up("wan", Plan(hosts=paths, steps=steps))
