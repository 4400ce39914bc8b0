import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.domain.space import Parameter, Scale, Space
from advisor.methods.lattice import MOST_COUNTED, Lattice, step_values


def parameter(lower: int, upper: int, quantum: int = 1, *, log2: bool = False) -> Parameter:
    scale = Scale.LOG2 if log2 else Scale.LINEAR
    return Parameter(name="x", unit="", lower=lower, upper=upper, quantum=quantum, scale=scale)


PLANE = Lattice.of_steps(
    Space(
        parameters=tuple(Parameter(name=name, unit="", lower=1, upper=12) for name in ("a", "b")),
        cost_order=(),
    )
)


@pytest.mark.parametrize(
    ("one", "values"),
    [
        (parameter(1, 5), (1, 2, 3, 4, 5)),
        (parameter(4, 4), (4,)),
        (parameter(20, 60, 20), (20, 40, 60)),
        (parameter(1, 25, log2=True), (1, 2, 4, 8, 16, 25)),
        (parameter(3, 24, 3, log2=True), (3, 6, 12, 24)),
        (parameter(7, 7, 7, log2=True), (7,)),
        (parameter(1, 256), tuple(range(1, 257))),
        (parameter(1000, 25_000, 10), tuple(range(1000, 25_001, 1000))),
    ],
)
def test_steps_are_quanta_or_doublings(one: Parameter, values: tuple[int, ...]) -> None:
    assert step_values(one) == values


@given(
    lower=st.integers(1, 10**6),
    more=st.integers(0, 10**7),
    quantum=st.integers(1, 2000),
    log2=st.booleans(),
)
def test_rows_ascend_between_the_bounds_and_are_not_endless(
    lower: int, more: int, quantum: int, log2: bool
) -> None:
    one = parameter(lower * quantum, (lower + more) * quantum, quantum, log2=log2)
    row = step_values(one)
    assert (row[0], row[-1]) == (one.lower, one.upper)
    assert list(row) == sorted(set(row))
    assert len(row) <= MOST_COUNTED
    assert all(value % quantum == 0 for value in row)


def test_rounding_and_projection_are_those_of_the_papers_examples() -> None:
    """Balaprakash et al.: (3.8, 9.2) becomes (4, 9), and (12, −1) becomes (12, 1)."""

    def bounded(a: float, b: float) -> tuple[object, ...]:
        # Places count from 0, the values here from 1.
        return tuple(PLANE.setting(PLANE.bounded((a - 1, b - 1))).values())

    assert bounded(3.8, 9.2) == (4, 9)
    assert bounded(12, -1) == (12, 1)
    assert bounded(2.5, 3.5) == (3, 4)


def test_every_number_is_another_point() -> None:
    points = {PLANE.number(n) for n in range(PLANE.size)}
    assert len(points) == PLANE.size == 144
    assert PLANE.number(0) == (0, 0)
    assert PLANE.number(13) == (1, 1)
    assert PLANE.number(143) == PLANE.top


def test_nearest_is_on_the_parameters_own_scale() -> None:
    space = Space(parameters=(parameter(1, 64, log2=True),), cost_order=())
    # 11 is nearer to 8 in difference, 12 is nearer to 16 in ratio.
    assert [Lattice.of_steps(space).nearest({"x": v}) for v in (11, 12, 500)] == [(3,), (4,), (6,)]


@given(
    most=st.integers(1, 300),
    place=st.tuples(st.floats(-10, 60), st.floats(-10, 60)),
)
def test_every_point_is_within_the_flows(most: int, place: tuple[float, float]) -> None:
    space = Space(
        parameters=tuple(
            Parameter(name=name, unit="", lower=1, upper=upper)
            for name, upper in (("concurrency", 32), ("parallelism", 16))
        ),
        cost_order=(),
        most_flows=most,
    )
    lattice = Lattice.of_steps(space)
    point = lattice.bounded(place)
    assert lattice.bounded(point) == point
    assert space.holds(lattice.setting(point))
    numbered = [lattice.number(n) for n in range(lattice.size)]
    assert point in numbered
    assert len(set(numbered)) == sum(1 for a in range(1, 33) for b in range(1, 17) if a * b <= most)
