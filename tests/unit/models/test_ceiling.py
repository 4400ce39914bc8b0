"""No figure exceeds what the path can carry."""

import msgspec
import pytest

from advisor.domain.advice import Estimate
from advisor.domain.measurement import Interval
from advisor.models.ceiling import (
    Ceiling,
    bounded_ratio,
    ceiling_of,
    fastest_window_bps,
    held,
    link_ceiling,
    seen_ceiling,
)
from advisor.testing.samples import a_host, a_path, measured

UNKNOWN = a_path(
    bandwidth_bps=None, source=a_host(link_bps=None), destination=a_host(link_bps=None)
)


def test_the_slower_of_link_and_reservation_counts_without_headers() -> None:
    path = a_path(bandwidth_bps=5e9, mtu_bytes=1500)
    found = link_ceiling(path)
    assert found is not None
    assert found.bps == pytest.approx(5e9 * 1448 / 1500)
    assert "reserved" in found.words
    link = link_ceiling(msgspec.structs.replace(path, bandwidth_bps=50e9))
    assert link is not None
    assert link.bps < 10e9


def test_a_link_that_carried_more_than_it_tells_is_no_bound() -> None:
    path = a_path(bandwidth_bps=None)
    assert link_ceiling(path, 9e9) is not None
    assert link_ceiling(path, 20e9) is None
    reserved = link_ceiling(a_path(bandwidth_bps=1e9), 20e9)
    assert reserved is not None
    assert reserved.bps < 1e9


def test_nothing_known_is_no_ceiling() -> None:
    assert link_ceiling(UNKNOWN) is None
    assert ceiling_of(UNKNOWN, []) is None


def test_an_old_probe_of_few_intervals_is_not_exact() -> None:
    few = msgspec.structs.replace(
        measured(1e9), stderr_bps=0.0, intervals=[Interval(0.0, 1.0, 125_000_000)], steady_from=0
    )
    found = seen_ceiling([few], 0.01)
    assert found is not None
    assert found.bps > 1.05e9


def test_what_a_receiver_has_seen_counts_with_its_error() -> None:
    found = seen_ceiling([measured(1e9), measured(9e8)], 0.01)
    assert found is not None
    assert found.bps == pytest.approx(1e9 * (1 + 1.645 * 0.01))


def test_at_a_plateau_the_ceiling_is_as_exact_as_repeats_are() -> None:
    unsure = msgspec.structs.replace(measured(1e9), stderr_bps=1e8)
    long_run, plateau = (
        seen_ceiling([unsure], 0.01, 0.02, is_plateau=is_one) for is_one in (False, True)
    )
    assert long_run is not None
    assert plateau is not None
    assert plateau.bps == pytest.approx(1e9 * (1 + 1.645 * 0.02))
    # However unsure a probe is, repeats of it do not differ by more than probes do.
    assert plateau.bps < long_run.bps < 1.1e9


def test_a_start_that_overfilled_the_path_shows_what_it_carries() -> None:
    """The long run is below, since losses shrink the windows; its interval ends at the link."""
    rates = [1e9] * 4 + [3e8] * 8
    course = [Interval(n / 10, (n + 1) / 10, round(bps / 80)) for n, bps in enumerate(rates)]
    lossy = msgspec.structs.replace(
        measured(3e8), stderr_bps=1.2e8, intervals=course, steady_from=4
    )
    found = seen_ceiling([lossy], 0.02, is_plateau=True)
    assert found is not None
    # But for the error of a window.
    assert found.bps == pytest.approx(1e9 * (1 + 1.645 * 0.01))


def test_a_fast_window_counts_and_a_short_burst_does_not() -> None:
    halves = [Interval(n / 2, (n + 1) / 2, 10**8 if n == 3 else 5 * 10**7) for n in range(8)]
    assert fastest_window_bps(halves, 1.0) == pytest.approx(1.5e8 * 8)
    assert fastest_window_bps(halves, 4.0) == pytest.approx(4.5e8 * 8 / 4)
    assert fastest_window_bps(halves, 9.0) == 0


def test_an_estimate_is_cut_off() -> None:
    ceiling = Ceiling(1e9, "the link")
    assert held(ceiling, Estimate(9e8, (7e8, 1.3e9))) == Estimate(9e8, (7e8, 1e9))
    # What is too high by a quarter is so at its lower end too.
    assert held(ceiling, Estimate(1.25e9, (1.2e9, 1.3e9))) == Estimate(1e9, (9.6e8, 1e9))
    assert held(None, Estimate(1e9, (1e8, 1e10))) == Estimate(1e9, (1e8, 1e10))


def test_a_gain_cannot_lead_beyond_the_ceiling() -> None:
    default = Estimate(1e8, (8e7, 1.2e8))
    found = bounded_ratio(Estimate(9.0, (4.0, 20.0)), Ceiling(1e9, "the link"), default)
    assert found == Estimate(9.0, (4.0, 12.5))
