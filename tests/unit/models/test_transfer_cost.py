"""What slices say of the whole, by a model of what files cost."""

import math

import numpy as np
import pytest

from advisor.domain.dataset import Dataset, Work
from advisor.domain.space import Setting
from advisor.domain.traits import KnownCosts
from advisor.models.transfer_cost import CostModel, Moved
from advisor.traits import tool_traits

ONE: Setting = {"concurrency": 1, "parallelism": 1}
MANY: Setting = {"concurrency": 16, "parallelism": 1}
NETWORK = {1: 3e8, 8: 4e8}


def _moved(setting: Setting, files: int, seconds: float, *, cut: bool = False) -> Moved:
    work = Work.of_sizes([10**6] * files, is_cut=cut)
    return Moved(setting=setting, work=work, seconds=seconds, idle_s=1.0)


def _whole_s(model: CostModel, probe: Moved, whole: Work) -> tuple[float, float]:
    [(ratio, error)] = model.log_ratios(whole, [(probe.setting, probe.work)])
    return probe.seconds * math.exp(ratio), error


def test_a_file_costs_time_and_the_start_counts_once() -> None:
    # 1 s of start, 0.1 s for each file, one after the other.
    probes = [_moved(ONE, n, 1 + 0.1 * n, cut=n == 80) for n in (20, 40, 80)]
    model = CostModel(0.03, NETWORK).fit(probes)
    for probe in probes:
        whole_s, error = _whole_s(model, probe, Work.of_sizes([10**6] * 2000))
        assert whole_s == pytest.approx(201, rel=0.08)
        assert error < 0.1


def test_a_probe_of_everything_is_the_whole() -> None:
    probe = _moved(MANY, 100, 7.7)
    model = CostModel(0.03, NETWORK).fit([probe])
    assert _whole_s(model, probe, probe.work) == (pytest.approx(7.7), pytest.approx(0.0))


def test_the_less_was_moved_the_less_certain_it_is() -> None:
    whole = Work.of_sizes([10**6] * 1000)
    errors = []
    for files in (10, 100, 900):
        probe = _moved(MANY, files, 1.5 + files / 100)
        errors.append(_whole_s(CostModel(0.03, NETWORK).fit([probe]), probe, whole)[1])
    assert errors == sorted(errors, reverse=True)


def test_more_files_at_a_time_hide_what_files_cost_until_the_path_is_full() -> None:
    model = CostModel(0.03, NETWORK).fit([_moved(ONE, 40, 5.0)])
    whole = Work.of_sizes([10**6] * 1000)
    settings: list[Setting] = [{"concurrency": 2**n, "parallelism": 1} for n in range(7)]
    seconds = model.seconds(settings, whole)
    assert seconds[0] > 1.8 * seconds[1] > 3 * seconds[2]
    assert min(seconds) > whole.total_bytes * 8 / 4e8
    assert seconds[5] == pytest.approx(seconds[6], rel=0.15)


def test_sessions_that_begin_on_a_full_path_cost_nothing() -> None:
    """They begin one after another, 0.04 s each, and a slice is not over before the last has."""
    sessions = {8: 0.3, 32: 1.3, 64: 2.6}
    probes = [
        _moved({"concurrency": n, "parallelism": 1}, files, 1 + max(sessions[n], files / 50))
        for n, files in ((8, 100), (64, 50), (32, 100), (8, 200), (64, 300))
    ]
    model = CostModel(0.01, {1: 3.9e8, 8: 4e8}).fit(probes)
    for probe in probes:
        whole_s, _ = _whole_s(model, probe, Work.of_sizes([10**6] * 2000))
        assert whole_s == pytest.approx(41, rel=0.08)


def test_files_that_begin_one_after_another_are_noticed_at_any_concurrency() -> None:
    # 1 s of start, 0.05 s for each file, however many are under way.
    some: list[Setting] = [{"concurrency": n, "parallelism": 1} for n in (4, 16, 64)]
    probes = [
        _moved(setting, files, 1 + 0.05 * files)
        for setting, files in zip(some, (40, 60, 100), strict=True)
    ]
    model = CostModel(0.03, NETWORK).fit(probes)
    for probe in probes:
        whole_s, error = _whole_s(model, probe, Work.of_sizes([10**6] * 2000))
        assert whole_s == pytest.approx(101, rel=0.15)
        assert error < 0.15


def test_what_is_known_of_a_tool_counts_before_a_probe_shows_it() -> None:
    # A login of 1.5 s that sends bytes; then 4 files a second, at any concurrency above 4.
    probe = Moved(
        setting=MANY, work=Work.of_sizes([10**4] * 20), seconds=1.5 + 20 * 0.25, idle_s=0.3
    )
    whole = Work.of_sizes([10**4] * 400)
    known = KnownCosts(start=6, turn=1)
    with_known = _whole_s(CostModel(0.2, NETWORK, known=known).fit([probe]), probe, whole)
    without = _whole_s(CostModel(0.2, NETWORK).fit([probe]), probe, whole)
    off, off_without = (abs(math.log(seconds / 101.5)) for seconds, _ in (with_known, without))
    assert off < 0.7 * off_without
    assert off < 1.65 * with_known[1]


@pytest.mark.parametrize(
    ("files", "at_once", "old_s", "new_s"),
    [
        (31, 1, 13.1, 17.3),
        (31, 4, 5.7, 7.6),
        (100, 4, 12.4, 16.3),
        (120, 8, 9.7, 17.6),
        (100, 16, 9.6, 16.0),
        (200, 16, 14.3, 25.6),
        (100, 64, 9.2, 15.8),
        (200, 64, 14.3, 25.7),
    ],
)
def test_connections_that_open_when_needed_are_no_more_than_files_begin(
    files: int, at_once: int, old_s: float, new_s: float
) -> None:
    """What rclone 1.60.1 and 1.75.2 took over SFTP at 45.6 ms, for files of 1 kB."""
    known = tool_traits("rclone").known_costs(None)
    setting: Setting = {"concurrency": at_once, "parallelism": 1}
    model = CostModel(0.0456, {1: 5e8, 8: 5e8}, known=known)
    [seconds] = model.seconds([setting], Work.of_sizes([1000] * files))
    assert seconds == pytest.approx(math.sqrt(old_s * new_s), rel=0.15)


def test_how_much_probes_differ_is_known_from_all_settings_together() -> None:
    # 1 s of start and 10 s of data at each; what is lost on the way makes some of them slower.
    luck = [0.9, 1.2, 0.95, 1.4, 0.85, 0.95, 1.1, 0.9]
    noises = []
    for spread in (luck, [1.0] * len(luck)):
        probes = [
            _moved({"concurrency": 8 + n, "parallelism": 1}, 500, 11 * factor)
            for n, factor in enumerate(spread)
        ]
        noises.append(CostModel(0.03, NETWORK).fit(probes).noise)
    unsteady, steady = noises
    assert unsteady.value == pytest.approx(np.std(np.log(luck)), rel=0.3)
    assert steady.value < 0.04
    assert 4 < unsteady.degrees < 12


def test_options_beside_the_flows_have_a_cost_of_their_own() -> None:
    plain: Setting = {**ONE, "options": "none"}
    model = CostModel(0.03, NETWORK).fit([_moved(ONE, 40, 5.0), _moved(plain, 40, 13.0)])
    fast_s, plain_s = (
        model.seconds([one], Work.of_sizes([10**6] * 1000))[0] for one in (ONE, plain)
    )
    assert plain_s > 2 * fast_s


def test_streams_that_each_are_limited_do_not_tell_the_rate_of_the_path() -> None:
    # Eight streams have eight times the rate of one: sixteen files may have more.
    setting: Setting = {"concurrency": 64, "parallelism": 1}
    files = Work.of_sizes([10**8] * 640)
    limited = CostModel(0.03, {1: 2.5e7, 8: 2e8}, 1e9).seconds([setting], files)[0]
    filled = CostModel(0.03, {1: 1.9e8, 8: 2e8}, 1e9).seconds([setting], files)[0]
    assert limited < 0.8 * filled
    assert CostModel(0.03, {}, 2e9).seconds([setting], files)[0] < limited


def test_the_last_large_file_is_waited_for() -> None:
    model = CostModel(0.03, {1: 5e7, 8: 4e8})
    even = Work.of_sizes([10**7] * 64)
    uneven = Work.of_sizes([2 * 10**6] * 60 + [13 * 10**7] * 4)
    assert even.total_bytes == uneven.total_bytes
    at_even, at_uneven = (model.seconds([MANY], work)[0] for work in (even, uneven))
    assert at_uneven > 1.2 * at_even


def test_the_work_of_a_dataset_is_known_by_its_classes() -> None:
    sizes = np.random.default_rng(1).lognormal(13, 1.5, 500).astype(int).tolist()
    bins: dict[int, list[int]] = {}
    for size in sizes:
        bins.setdefault(size.bit_length() - 1, []).append(size)
    dataset = Dataset(
        total_bytes=sum(sizes),
        files=len(sizes),
        largest_bytes=max(sizes),
        sizes=tuple((bin_, len(some), sum(some)) for bin_, some in sorted(bins.items())),
    )
    found, true = Work.of_dataset(dataset), Work.of_sizes(sizes)
    assert (found.files, found.total_bytes, found.largest_bytes) == (
        true.files,
        true.total_bytes,
        true.largest_bytes,
    )
    assert found.square_bytes == pytest.approx(true.square_bytes, rel=0.15)
    huge = Work.of_dataset(Dataset(total_bytes=10**16, files=2, largest_bytes=9 * 10**15))
    assert CostModel(0.03, NETWORK).seconds([MANY], huge)[0] == pytest.approx(3e8, rel=0.5)
    unknown = Work.of_dataset(Dataset(total_bytes=100))
    assert (unknown.files, unknown.largest_bytes) == (1, 100)
