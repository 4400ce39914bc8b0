"""SPSA: the paper's form by its equations, and what differs in the one for any rate."""

import re
from collections.abc import Callable

import numpy as np
import pytest

from advisor import registry
from advisor.domain.measurement import Measurement, Outcome
from advisor.domain.space import Parameter, Scale, Setting, Space
from advisor.methods.api import Knowledge, Method
from advisor.testing.samples import a_space, failed, measured


def linear_space() -> Space:
    """Iterative values 1 to 25 are the actual ones, so that the arithmetic can be followed."""
    return Space(
        parameters=tuple(Parameter(name=n, unit="", lower=1000, upper=25000) for n in ("p", "w")),
        cost_order=("p", "w"),
    )


def make(
    space: Space | None = None,
    *,
    name: str = "spsa-probdata",
    seed: int = 1,
    bandwidth_bps: float | None = None,
    **k: float,
) -> Method:
    knowledge = Knowledge(bandwidth_bps=bandwidth_bps)
    rng = np.random.default_rng(seed)
    return registry.method(name).create(space or linear_space(), rng, knowledge, k)


def step(method: Method, bps: float) -> Setting:
    setting = method.ask()
    assert setting is not None
    method.tell(setting, measured(bps))
    return setting


def test_one_iteration_follows_the_equations() -> None:
    """θ1 = θ0 + a_0 (y+ − y−) / (θ+ − θ−), worked out by hand from the settings asked."""
    rng = np.random.default_rng(11)
    theta = rng.uniform(1, 25, size=2)
    delta = rng.choice((-1.0, 1.0), size=2)
    plus, minus = np.clip(theta + 5.5 * delta, 1, 25), np.clip(theta - 5.5 * delta, 1, 25)
    method = make(seed=11)
    asked_plus, asked_minus = step(method, 3e9), step(method, 1e9)
    asked_star = method.ask()
    gradient = (3 - 1) / (plus - minus)
    star = np.clip(theta + 15 * gradient, 1, 25)
    for asked, point in ((asked_plus, plus), (asked_minus, minus), (asked_star, star)):
        assert asked is not None
        assert asked["p"] == pytest.approx(point[0] * 1000, abs=1)
        assert asked["w"] == pytest.approx(point[1] * 1000, abs=1)


def test_steps_and_perturbations_decay_as_the_paper_says() -> None:
    """With no difference between y+ and y− θ stays; then c_k alone sets the distance."""
    method = make(seed=2, c=2.0, escape=1.0, L=1000, N=1000)
    for k in range(12):
        plus, minus = step(method, 1e9), step(method, 1e9)
        star = step(method, 1e9)
        c_k = 2.0 / (k + 1) ** 0.101
        for name in ("p", "w"):
            middle, p, m = (float(x[name]) / 1000 for x in (star, plus, minus))
            expected = sorted(np.clip([middle + c_k, middle - c_k], 1, 25))
            assert sorted([p, m]) == pytest.approx(expected, abs=0.002)


def test_at_the_wall_the_step_taken_is_the_denominator() -> None:
    """θ at the upper wall: y+ is clipped, and the gradient is over half the distance."""
    method = make(seed=3)
    state = method.state()
    state["theta"], state["plus"], state["minus"] = [25.0, 10.0], [25.0, 15.5], [19.5, 4.5]
    method.restore(state)
    step(method, 2e9)
    step(method, 1.9e9)
    star = method.ask()
    assert star is not None
    assert star["p"] == 25000
    assert star["w"] == pytest.approx((10 + 15 * 0.1 / 11) * 1000, abs=1)


def test_it_stops_at_the_gain_ratio() -> None:
    method = make(bandwidth_bps=1e9)
    step(method, 0.84e9)
    assert method.stop_reason is None
    step(method, 0.86e9)
    assert method.stop_reason is not None
    assert "(C)" in method.stop_reason
    assert method.ask() is None


def test_without_a_bandwidth_the_gain_ratio_is_not_used() -> None:
    method = make()
    step(method, 1e15)
    assert method.stop_reason is None


def test_it_stops_when_impeded() -> None:
    method = make(L=3, N=100)
    for _ in range(3 * 4):
        assert method.stop_reason is None
        step(method, 1e9)
    # The first probe was the only improvement, so L + 1 iterations without one are these.
    for _ in range(3):
        step(method, 1e9)
    assert method.stop_reason is not None
    assert "(L)" in method.stop_reason
    assert method.iteration == 5


def test_it_stops_at_the_upper_bound() -> None:
    method = make(N=4)
    for _ in range(4 * 3):
        assert method.stop_reason is None
        step(method, 1e9)
    assert method.stop_reason is not None
    assert "(N)" in method.stop_reason


def test_impeded_it_takes_larger_steps_until_something_is_better() -> None:
    method = make(seed=4, c=1.0, tau_c=3.0, L=8, escape=0.25, N=100)
    widths = []
    for _ in range(7):
        plus, minus = step(method, 1e9), step(method, 1e9)
        widths.append(max(abs(float(plus[n]) - float(minus[n])) for n in ("p", "w")))
        step(method, 1e9)
    assert widths[6] > 2 * widths[0]
    step(method, 2e9)
    step(method, 2e9)
    step(method, 2e9)
    assert method.state()["growths"] == 0


def test_a_failed_setting_is_moved_away_from() -> None:
    method = make(seed=5)
    plus = method.ask()
    assert plus is not None
    method.tell(plus, failed())
    minus = step(method, 2e9)
    star = method.ask()
    assert star is not None
    for name in ("p", "w"):
        towards_minus = float(minus[name]) - float(plus[name])
        middle = (float(minus[name]) + float(plus[name])) / 2
        at_wall = star[name] in (1000, 25000)
        assert at_wall or (float(star[name]) - middle) * towards_minus > -1e3


def test_it_explains_its_moves() -> None:
    method = make(seed=6)
    step(method, 5e9)
    assert method.move_reason is None
    step(method, 1e9)
    assert method.move_reason is not None
    assert "5 Gbit/s" in method.move_reason


@pytest.mark.parametrize(
    ("constants", "why"),
    [
        ({"N": 0}, "N: 0 is not from 1 to"),
        ({"C": 0}, "C: 0 is not from 0.01 to 1"),
        ({"L": 1.5}, "L: 1.5 is not a whole number"),
        ({"x": 1}, "constant"),
        ({"a": -1}, "a: -1 is not from"),
    ],
)
def test_bad_constants_are_refused(constants: dict[str, float], why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        make(**constants)


def peak(setting: Setting) -> Outcome:
    """2 Gbit/s at 9 streams of 4 MiB, falling off on both sides."""
    streams, buffer = float(setting["streams"]), float(setting["buffer_bytes"])
    far = ((streams - 9) / 12) ** 2 + ((np.log2(buffer) - 22) / 5) ** 2
    return measured(2e9 * float(np.exp(-far)))


def test_the_trajectory_is_pinned() -> None:
    """Recorded: what SPSA does with this seed on this surface may not change unnoticed."""
    method = make(a_space(), seed=2017)
    asked = []
    for _ in range(9):
        setting = method.ask()
        assert setting is not None
        asked.append((method.label, setting["streams"], setting["buffer_bytes"]))
        method.tell(setting, peak(setting))
    assert asked == GOLDEN


GOLDEN = [
    ("y+", 19, 9164383),
    ("y−", 8, 67108864),
    ("y*", 14, 47724230),
    ("y+", 9, 67108864),
    ("y−", 19, 10852316),
    ("y*", 14, 50575789),
    ("y+", 9, 67108864),
    ("y−", 18, 12204924),
    ("y*", 14, 50927219),
]


@pytest.mark.parametrize("name", ["spsa", "spsa-probdata"])
def test_it_finds_the_peak_more_often_than_not(name: str) -> None:
    reached = 0
    for seed in range(40):
        method = make(a_space(), name=name, seed=seed)
        while (setting := method.ask()) is not None:
            method.tell(setting, peak(setting))
        best = method.best()
        assert best is not None
        reached += best[1] > 0.9 * 2e9
    assert reached > 30


def test_scales_are_the_spaces_own() -> None:
    space = Space(
        parameters=(Parameter(name="w", unit="B", lower=2**11, upper=2**35, scale=Scale.LOG2),),
        cost_order=("w",),
    )
    method = make(space, seed=8)
    theta = float(np.random.default_rng(8).uniform(1, 25, size=1)[0])
    plus, minus = step(method, 1e9), step(method, 1e9)
    logs = sorted(np.log2([float(plus["w"]), float(minus["w"])]) - 10)
    expected = sorted(np.clip([theta + 5.5, theta - 5.5], 1, 25))
    assert logs == pytest.approx(expected, abs=0.001)


def asked_on(name: str, bps_of: Callable[[Setting], float], *, seed: int) -> list[Setting]:
    method = make(a_space(), name=name, seed=seed)
    asked: list[Setting] = []
    while len(asked) < 60 and (setting := method.ask()) is not None:
        asked.append(setting)
        method.tell(setting, measured(bps_of(setting)))
    return asked


def hill(setting: Setting) -> float:
    found = peak(setting)
    assert isinstance(found, Measurement)
    return found.throughput_bps


@pytest.mark.parametrize("factor", [0.05, 50.0])
def test_the_same_surface_at_another_rate_is_searched_in_the_same_way(factor: float) -> None:
    at_2_gbps = asked_on("spsa", hill, seed=7)
    assert asked_on("spsa", lambda setting: factor * hill(setting), seed=7) == at_2_gbps
    paper = asked_on("spsa-probdata", hill, seed=7)
    assert asked_on("spsa-probdata", lambda s: factor * hill(s), seed=7) != paper


def test_on_a_full_path_of_10_gbps_it_moves_as_in_the_paper() -> None:
    moves = []
    for name in ("spsa", "spsa-probdata"):
        method = make(seed=12, name=name)
        theta = [10.0, 12.0]
        points = {"theta": theta, "plus": [15.5, 6.5], "minus": [4.5, 17.5]}
        method.restore(method.state() | points)
        step(method, 10e9)
        step(method, 9e9)
        moves.append(method.state()["theta"])
    assert moves[0] == pytest.approx(moves[1])
    assert moves[0] != theta


@pytest.mark.parametrize(("name", "inside"), [("spsa", True), ("spsa-probdata", False)])
def test_impeded_the_paper_sees_corners_alone(name: str, inside: bool) -> None:
    method = make(name=name, seed=3, L=40, N=100)
    seen: list[bool] = []
    while method.ask() is not None:
        is_late, label = method.state()["growths"] >= 7, method.label
        setting = step(method, 1e9)
        if is_late and label != "y*":
            seen.append(all(setting[one] in (1000, 25000) for one in ("p", "w")))
    assert len(seen) > 5
    assert all(seen) is not inside


def test_no_step_is_longer_than_half_the_range() -> None:
    method = make(name="spsa", seed=5, a=1e6)
    before = np.array(method.state()["theta"])
    step(method, 1e9)
    step(method, 1e8)
    moved = np.abs(np.array(method.state()["theta"]) - before)
    assert moved.max() <= 12
    assert moved.max() > 0


@pytest.mark.parametrize("name", ["spsa", "spsa-probdata"])
@pytest.mark.parametrize(
    "constants",
    [
        {"gamma": 10.0, "N": 60, "L": 60},
        {"gamma": 10.0, "c": 0.001, "alpha": 0.001},
        {"c": 0.001, "a": 1e6},
        {"tau_a": 100.0, "tau_c": 100.0, "escape": 0.001, "L": 2000, "N": 2000},
        {"tau_a": 1.0, "tau_c": 1.0, "escape": 0.001, "L": 200, "N": 200},
        {"alpha": 10.0, "gamma": 10.0, "A": 1e4},
    ],
)
@pytest.mark.parametrize("rate_bps", [lambda k: 1e9, lambda k: 1e9 * (1 + k / 100), lambda k: 0.0])
def test_no_constant_that_is_allowed_leaves_nothing_to_divide_by(
    name: str, constants: dict[str, float], rate_bps: Callable[[int], float]
) -> None:
    """Warnings of numpy are errors in tests."""
    method = make(a_space(), name=name, **constants)
    told = 0
    while (setting := method.ask()) is not None:
        assert a_space().holds(setting)
        state = method.state()
        assert all(1 <= theta <= 25 for theta in state["theta"])
        assert all(p != m for p, m in zip(state["plus"], state["minus"], strict=True))
        method.tell(setting, measured(rate_bps(told)))
        told += 1
    assert method.stop_reason
