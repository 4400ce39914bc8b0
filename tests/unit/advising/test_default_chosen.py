"""When the default is advised although another setting was faster."""

import msgspec
import pytest

from advisor import registry
from advisor.advising import choosing
from advisor.advising.choosing import ranking_of
from advisor.advising.contenders import Ranking
from advisor.api.transport import SpaceOptions
from advisor.domain.endpoints import Endpoint, Pair
from advisor.domain.measurement import Interval
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting
from advisor.runtime.request import AdviceRequest
from advisor.testing.samples import a_host, a_path, measured

PATH = a_path(bandwidth_bps=None, source=a_host(link_bps=None), destination=a_host(link_bps=None))
SPACES = {
    t.name: t.space(PATH, t.variants(PATH, [])[0], SpaceOptions()) for t in registry.transports()
}
REQUEST = AdviceRequest(destination=Endpoint("far"))


def tcp(streams: int) -> Setting:
    return {"streams": streams, "buffer_bytes": 0}


def probes_of(setting: Setting, default: Setting, *mbps: float) -> list[ProbeRecord]:
    is_default = setting == default
    return [
        ProbeRecord(
            pair=Pair("a", "b"),
            subject="tcp",
            setting=setting,
            result=measured(rate * 1e6),
            recorded_s=0,
            stage="baseline" if is_default else "tcp",
            purpose="baseline" if is_default else "search",
            label="default" if is_default else "",
        )
        for rate in mbps
    ]


def ranking(default: int, *rates: tuple[int, tuple[float, ...]]) -> Ranking:
    """`rates`: numbers of streams and their throughputs in Mbit/s."""
    probes = [one for n, mbps in rates for one in probes_of(tcp(n), tcp(default), *mbps)]
    found = ranking_of(REQUEST, PATH, probes, [], SPACES)
    assert found is not None
    return found


def streams_of(found: Ranking) -> int:
    return int(found.candidates[found.chosen].setting["streams"])


def test_a_small_gain_that_is_not_certain_is_left() -> None:
    found = ranking(1, (1, (930.0, 955.0)), (2, (970.0, 985.0)), (16, (975.0,)))
    assert streams_of(found) == 1
    assert found.gain
    assert (found.gain.value, found.gain.interval) == (1.0, (1.0, 1.0))
    # What is expected is the default's own rate.
    assert found.expected.value == pytest.approx(942e6, rel=0.01)


@pytest.mark.parametrize(
    "rates",
    [
        pytest.param(((930.0, 931.0) * 4, (970.0, 971.0) * 4), id="small but certain"),
        pytest.param(((800.0, 850.0), (940.0, 960.0)), id="large"),
    ],
)
def test_other_gains_are_taken(rates: tuple[tuple[float, ...], tuple[float, ...]]) -> None:
    default, faster = rates
    found = ranking(1, (1, default), (2, faster), (4, faster))
    assert streams_of(found) > 1
    assert found.gain
    assert found.gain.value > 1


def test_a_default_that_costs_more_is_not_preferred() -> None:
    assert streams_of(ranking(8, (8, (930.0, 955.0)), (2, (970.0, 985.0)))) == 2


def test_a_default_that_rare_losses_may_hold_back_is_not_preferred(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def of_few_streams(probe: ProbeRecord, _: ProbeRecord) -> float:
        return 0.1 if probe.setting == tcp(1) else 0.0

    monkeypatch.setattr(choosing, "loss_error", of_few_streams)
    assert streams_of(ranking(1, (1, (930.0, 955.0)), (2, (970.0, 985.0)), (16, (975.0,)))) == 2


def test_a_default_whose_own_probes_were_faster_is_advised() -> None:
    found = ranking(1, (1, (33.0, 57.0)), (2, (31.0, 37.0)), (3, (38.0,)), (16, (34.0,)))
    assert streams_of(found) == 1
    assert found.gain
    assert found.gain.value == 1.0


def test_a_setting_that_only_the_others_suggest_is_not_advised() -> None:
    """As beside two streams of BBR: the model expected most of 8 streams, which had been slow."""
    own_buffers = {1: (21.7,), 4: (8.7,), 6: (47.0, 57.9), 8: (17.1,), 16: (55.4,), 25: (19.2,)}
    rates = [(tcp(streams), mbps) for streams, mbps in own_buffers.items()]
    rates += [
        ({**tcp(n), "buffer_bytes": 524288}, (r,)) for n, r in ((1, 34.7), (2, 9.0), (3, 6.8))
    ]
    probes = [one for setting, mbps in rates for one in probes_of(setting, tcp(1), *mbps)]
    found = ranking_of(REQUEST, PATH, probes, [], SPACES)
    assert found is not None
    assert found.candidates[found.chosen].setting == tcp(6)
    assert found.gain
    assert found.gain.value > 2


def test_one_lucky_probe_of_many_streams_does_not_rule_out_the_rest() -> None:
    """As of 16 streams on a clean path of 1 Gbit/s, whose receiver read what had waited."""
    rates = [(tcp(1), 992.0), (tcp(2), 995.0), (tcp(3), 986.0)]
    sized = {"buffer_bytes": 4 * 2**20}
    rates += [({"streams": 4, **sized}, 994.0), ({"streams": 25, **sized}, 965.0)]
    probes = [one for setting, mbps in rates for one in probes_of(setting, tcp(1), mbps)]
    [lucky] = probes_of(tcp(16), tcp(1), 1071.0)
    bursts = [Interval(i / 8, (i + 1) / 8, n) for i, n in enumerate([16, 11, 9, 12, 10, 10])]
    uneven = msgspec.structs.replace(lucky.result, intervals=bursts, steady_from=0, stderr_bps=12e7)
    lucky = msgspec.structs.replace(lucky, result=uneven)
    found = ranking_of(REQUEST, PATH, [*probes, lucky], [], SPACES)
    assert found is not None
    assert streams_of(found) == 1
    assert found.expected.value < 1e9
