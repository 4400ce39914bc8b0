"""bayes: what it recommends, what it learns from history, and how it is resumed."""

import json
import math

import msgspec
import numpy as np
import pytest

from advisor.domain.dataset import Dataset
from advisor.domain.space import Parameter, Scale, Setting, Space, flows_of
from advisor.methods.api import Knowledge, Method, PastSurface, WithBelief
from advisor.testing.samples import a_transfer_space, measured
from tests.plugins.pasts import SPACE, known, past, rate_bps
from tests.plugins.searches import asked, counts, follow, make, tell

STREAMS = counts(streams=(1, 64))


def octaves(setting: Setting, name: str) -> float:
    return math.log2(float(setting[name]))


def rising_to(plateau_at: int, setting: Setting) -> float:
    return min(float(setting["streams"]), plateau_at) / plateau_at


def test_on_a_plateau_the_cheap_end_is_recommended() -> None:
    method = make("bayes", STREAMS, noise=0.05)
    follow(method, lambda s: rising_to(8, s), 20)
    recommended = method.recommended()
    assert recommended is not None
    assert 8 <= recommended[0]["streams"] <= 16


@pytest.mark.parametrize("peak", [1, 4, 16, 64])
def test_a_peak_is_found_wherever_it_is(peak: int) -> None:
    method = make("bayes", STREAMS, noise=0.05)
    follow(method, lambda s: 2.0 ** -abs(octaves(s, "streams") - math.log2(peak)), 20)
    recommended = method.recommended()
    assert recommended is not None
    assert abs(octaves(recommended[0], "streams") - math.log2(peak)) <= 0.5


def test_one_lucky_probe_is_not_believed() -> None:
    method = make("bayes", a_transfer_space())
    rng = np.random.default_rng(4)
    lucky: Setting | None = None
    while method.iteration < 12 and (setting := method.ask()) is not None:
        gbps = float(rng.lognormal(sigma=0.05))
        if method.iteration == 3:
            lucky, gbps = setting, 1.6
        method.tell(setting, measured(gbps * 1e9))
    best, recommended = method.best(), method.recommended()
    assert best is not None
    assert recommended is not None
    assert best == (lucky, 1.6e9)
    assert recommended[1] < 1.5e9


def test_a_probe_that_is_unsure_of_its_result_counts_less() -> None:
    def recommended_bps(error: float) -> float:
        method = make("bayes", a_transfer_space())
        for number in range(6):
            setting = method.ask()
            assert setting is not None
            bps = 4e9 if number == 5 else 1e9
            stderr_bps = error * bps if number == 5 else 0.01 * bps
            outcome = msgspec.structs.replace(measured(bps), stderr_bps=stderr_bps)
            method.tell(setting, outcome)
        recommended = method.recommended()
        assert recommended is not None
        return recommended[1]

    assert recommended_bps(0.8) < 0.8 * recommended_bps(0.01)


def test_a_search_saved_before_errors_were_kept_resumes() -> None:
    method = make("bayes", a_transfer_space())
    for _ in range(3):
        setting = method.ask()
        assert setting is not None
        method.tell(setting, measured(1e9))
    state = dict(method.state())
    assert len(state.pop("errors")) == 3
    resumed = make("bayes", a_transfer_space())
    resumed.restore(state)
    assert resumed.ask() == method.ask()
    resumed.tell(resumed.ask() or {}, measured(1e9))
    assert resumed.iteration == 4


def test_it_starts_where_other_paths_peaked() -> None:
    space = counts(streams=(1, 64))
    levels: list[Setting] = [{"streams": 2**i} for i in range(7)]

    def seen(peak: int) -> Knowledge:
        surface = PastSurface(
            settings=levels,
            rates_bps=[1e9 * 2.0 ** -abs(i - peak) for i in range(7)],
            repeats=[5] * 7,
        )
        return Knowledge(surfaces=(surface,) * 4)

    low, high = (make("bayes", space, seen(peak)) for peak in (1, 5))
    assert asked(low)[0] < asked(high)[0]


def test_it_starts_where_past_transfers_of_files_peaked() -> None:
    def first(peak: int, history: float) -> Setting:
        method = make("bayes", SPACE, known(past(peak, "a")), history=history)
        setting = method.ask()
        assert setting is not None
        return setting

    assert int(first(4, 1)["concurrency"]) < int(first(16, 1)["concurrency"])
    assert rate_bps(first(4, 1), 4) > rate_bps(first(4, 0), 4)
    assert first(4, 0) == first(16, 0)


def test_past_transfers_of_files_say_nothing_of_buffers() -> None:
    space = counts(streams=(1, 32), buffer_bytes=(2**16, 2**24))
    informed, uninformed = (make("bayes", space, known(*pasts)) for pasts in ((past(4, "a"),), ()))
    assert informed.ask() == uninformed.ask()
    assert informed.label == uninformed.label == "prior"


def test_small_files_and_large_ones_start_at_different_settings() -> None:
    def first(file_bytes: int) -> Setting:
        dataset = Dataset(total_bytes=file_bytes * 1000, files=1000)
        setting = make("bayes", a_transfer_space(), Knowledge(dataset=dataset)).ask()
        assert setting is not None
        return setting

    # Parallelism splits a file: of small ones there is nothing to split.
    assert first(2**20)["parallelism"] < first(2**32)["parallelism"]


def test_it_goes_on_where_the_box_has_moved() -> None:
    """What was seen of another transport meanwhile may widen the range of buffers."""

    def box(upper: int) -> Space:
        buffer = Parameter(
            name="buffer_bytes", unit="B", lower=2**16, upper=upper, scale=Scale.LOG2
        )
        streams = Parameter(name="streams", unit="", lower=1, upper=16)
        return Space(parameters=(buffer, streams), cost_order=("streams", "buffer_bytes"))

    first = make("bayes", box(2**24))
    tell(first, 1.0, 2.0, 3.0, 2.5)
    second: Method = make("bayes", box(3 * 2**23))
    second.restore(json.loads(json.dumps(first.state())))
    assert second.iteration == 4
    assert second.recommended() is not None
    tell(second, 2.0)


def test_it_stops_where_the_path_is_full() -> None:
    known = Knowledge(bandwidth_bps=10e9)
    method = make("bayes", STREAMS, known, C=0.9)
    tell(method, 8.9)
    assert method.stop_reason is None
    tell(method, 9.1)
    assert method.stop_reason == "91% of the path's bandwidth reached, 90% asked (C)"
    assert method.gauges[1].value == 0.91


def test_flows_are_the_product_of_what_multiplies_them() -> None:
    assert flows_of({"concurrency": 4, "parallelism": 8, "pipelining": 16}) == 32
    assert flows_of({"streams": 3, "buffer_bytes": 2**20, "congestion": "cubic"}) == 3
    assert flows_of({"buffer_bytes": 2**20}) == 1


def believing(space: Space = STREAMS) -> Method:
    method = make("bayes", space, noise=0.05)
    assert isinstance(method, WithBelief)
    return method


def test_what_it_was_taught_counts_for_its_belief_and_not_for_n() -> None:
    method = believing()
    assert isinstance(method, WithBelief)
    method.learn({"streams": 1}, measured(1e8))
    method.learn({"streams": 16}, measured(9e8))
    assert method.iteration == 0
    assert method.best() == ({"streams": 16}, 9e8)
    assert method.ask() not in ({"streams": 1}, {"streams": 2})


def test_it_expects_less_the_more_it_knows() -> None:
    method = believing()
    assert isinstance(method, WithBelief)
    assert method.expected_gain(1e9, 0.02) == math.inf
    expected = []
    for streams in (1, 64, 8, 16, 4, 32):
        method.learn({"streams": streams}, measured(1e9))
        expected.append(method.expected_gain(1e9, 0.02))
    assert expected[-1] < expected[0] / 2
    assert method.expected_gain(2e9, 0.02) < expected[-1]


def test_a_search_that_is_over_expects_nothing() -> None:
    method = make("bayes", STREAMS, noise=0.05, N=1)
    tell(method, 1.0)
    assert isinstance(method, WithBelief)
    assert method.stop_reason
    assert method.expected_gain(1e3, 0.0) == 0


def test_what_it_was_taught_is_resumed() -> None:
    method = believing()
    assert isinstance(method, WithBelief)
    method.learn({"streams": 1}, measured(1e8))
    tell(method, 1.0)
    again = believing()
    again.restore(json.loads(json.dumps(method.state())))
    assert again.iteration == method.iteration == 1
    assert again.ask() == method.ask()


def test_a_state_of_an_earlier_version_was_taught_nothing() -> None:
    method = believing()
    tell(method, 1.0)
    state = {name: value for name, value in method.state().items() if name != "learned"}
    again = believing()
    again.restore(json.loads(json.dumps(state)))
    assert again.iteration == 1


def _asked_after(seconds_of_16: float) -> int:
    """The streams of the next probe, where one stream took two seconds."""
    method = believing()
    assert isinstance(method, WithBelief)
    for streams, bps, seconds in ((1, 5e8, 2.0), (16, 1e9, seconds_of_16)):
        outcome = msgspec.structs.replace(measured(bps), elapsed_s=seconds)
        method.learn({"streams": streams}, outcome)
    return int(asked(method)[0])


def test_where_flows_take_long_to_set_up_it_asks_for_fewer() -> None:
    assert _asked_after(20.0) < _asked_after(2.0)
