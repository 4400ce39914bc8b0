"""What is refused before anything of a lab is built."""

import pytest

from advisor.lab import lifecycle
from advisor.lab.lifecycle import Plan, bring_up, order_of
from advisor.lab.paths import Changes, Direction, EmulatedPath, changed
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


@pytest.mark.parametrize(("configured", "expected"), [(None, 2_500_000), (30_000, 30_000)])
def test_the_queue_of_the_sources_interface_is_by_the_labs_longest_path(
    configured: int | None, expected: int
) -> None:
    rtts = {"near": Changes(rtt_s=0.01), "far": Changes(rtt_s=0.2)}
    paths = {name: changed(EmulatedPath(), one) for name, one in rtts.items()}
    own = Direction(rate_bps=1e8, delay_s=0.0, queue_bytes=configured)
    order = order_of("wan", Plan(hosts=paths, own=own), "emulator", user_namespace=True)
    assert order.own is not None
    assert order.own.queue_bytes == expected
