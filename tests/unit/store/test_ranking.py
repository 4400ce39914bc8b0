import math
from collections.abc import Callable

import msgspec
import pytest

from advisor.domain.measurement import Failure, FailureKind
from advisor.domain.records import ProbeRecord
from advisor.store.ranking import STALE_S, best_results

Maker = Callable[..., ProbeRecord]
MANY, FEW = {"streams": 8}, {"streams": 2}


def test_one_lucky_probe_does_not_beat_ten(make_probe: Maker) -> None:
    supported = [make_probe(1e9 + d * 1e7, setting=MANY) for d in range(-5, 5)]
    lucky = make_probe(1.03e9, setting=FEW)
    (best,) = best_results([*supported, lucky], now_s=1000.0)
    assert best.setting == MANY
    assert best.probes == 10


def test_one_probe_far_above_does(make_probe: Maker) -> None:
    supported = [make_probe(1e9 + d * 1e7, setting=MANY) for d in range(-5, 5)]
    (best,) = best_results([*supported, make_probe(2e9, setting=FEW)], now_s=1000.0)
    assert best.setting == FEW
    assert "one probe" in best.caution


def test_with_noisy_repeats_one_probe_counts_for_less(make_probe: Maker) -> None:
    def winner(noise: float) -> object:
        repeats = [make_probe(1e9 * (1 + noise * s), setting=MANY) for s in (-1, 1) * 10]
        single = make_probe(1.2e9, setting=FEW)
        return best_results([*repeats, single], now_s=1000.0)[0].setting

    assert winner(0.02) == FEW
    assert winner(0.3) == MANY


@pytest.mark.parametrize(
    ("apart", "spread"),
    # Four that are the same count for three beside the two of what is assumed; four that are as far
    # apart as is assumed leave it as it is.
    [(0.0, 0.15 * math.sqrt(2 / 5)), (0.15 * math.sqrt(3) / 2, 0.15)],
)
def test_a_mean_counts_less_its_standard_error(
    make_probe: Maker, apart: float, spread: float
) -> None:
    repeats = [make_probe(1e9 * (1 + apart * sign), setting=MANY) for sign in (-1, 1) * 2]

    def winner(log_above: float) -> object:
        single = make_probe(1e9 * math.exp(log_above), setting=FEW)
        return best_results([*repeats, single], now_s=1000.0)[0].setting

    needed = spread * (1 - 1 / math.sqrt(4))
    assert winner(needed - 0.001) == MANY
    assert winner(needed + 0.001) == FEW


def test_equally_supported_settings_go_by_their_mean(make_probe: Maker) -> None:
    probes = [make_probe(r, setting=s) for r, s in ((1e9, MANY), (1.1e9, FEW))] * 3
    (best,) = best_results(probes, now_s=1000.0)
    assert best.setting == FEW
    assert best.throughput_bps == pytest.approx(1.1e9)


def test_spread_age_and_no_caution(make_probe: Maker) -> None:
    probes = [make_probe(r, recorded_s=t) for r, t in ((0.9e9, 10.0), (1e9, 70.0), (1.1e9, 40.0))]
    (best,) = best_results(probes, now_s=100.0)
    assert best.throughput_bps == pytest.approx(1e9)
    assert best.spread == pytest.approx(0.1)
    assert best.probes == 3
    assert best.age_s == 30.0
    assert best.caution == ""


def test_the_order_of_names_in_a_setting_does_not_matter(make_probe: Maker) -> None:
    first = make_probe(setting={"streams": 1, "buffer_bytes": 0})
    second = make_probe(setting={"buffer_bytes": 0, "streams": 1})
    assert best_results([first, second], now_s=1000.0)[0].probes == 2


def test_stale_and_thin_results_say_so(make_probe: Maker) -> None:
    (best,) = best_results([make_probe()] * 2, now_s=1000.0 + STALE_S + 1)
    assert best.caution.startswith("Last measured 30 d ago")
    assert best.caution.endswith("Based on only 2 probes: that may be chance.")


def test_a_clock_that_went_back_gives_no_negative_age(make_probe: Maker) -> None:
    assert best_results([make_probe()], now_s=0.0)[0].age_s == 0.0


def test_failures_do_not_count_and_subjects_are_apart(make_probe: Maker) -> None:
    failure = Failure(kind=FailureKind.RESET, message="it broke", elapsed_s=1.0)
    probes = [make_probe(result=failure), make_probe(subject="udt"), make_probe(subject="tcp")]
    results = best_results([*probes, make_probe(result=failure, subject="xdd")], now_s=1000.0)
    assert [(r.subject, r.probes, r.spread) for r in results] == [
        ("tcp", 1, None),
        ("udt", 1, None),
    ]
    assert best_results([], now_s=0.0) == []


def test_a_disk_is_no_way_to_move_data(make_probe: Maker) -> None:
    disk = msgspec.structs.replace(make_probe(9e9), subject="source disk")
    (best,) = best_results([disk, make_probe(1e9)], now_s=1000.0)
    assert best.throughput_bps == 1e9
