"""The grids of a profile, from what the user declared."""

import itertools
from typing import Any

import pytest

from advisor.advising.context import Context
from advisor.cli.profile.axes import parse_axis
from advisor.domain.endpoints import Endpoint
from advisor.domain.space import AUTOMATIC, Parameter, Scale, Space
from advisor.profiling.grids import grids_of
from advisor.runtime.request import ProfileRequest

STREAMS = Parameter(name="streams", lower=1, upper=12, unit="")
BUFFER = Parameter(
    name="buffer_bytes",
    lower=65536,
    upper=2**24,
    quantum=1024,
    unit="B",
    scale=Scale.LOG2,
    automatic=True,
)
BLOCK = Parameter(
    name="block_bytes", lower=1024, upper=2**20, quantum=1024, unit="B", scale=Scale.LOG2
)


class Stage:
    """A stage with this space."""

    def __init__(self, subject: str, *parameters: Parameter, most_flows: int | None = None) -> None:
        self.subject = subject
        self._space = Space(
            parameters=parameters, cost_order=(), fixed={"fixed": 1}, most_flows=most_flows
        )

    def space(self, _context: object) -> Space:
        return self._space


def grids(*axes: str, points: int = 4, stages: tuple[Stage, ...] | None = None) -> Any:
    stages = stages or (Stage("one", STREAMS, BUFFER), Stage("two", BUFFER, BLOCK))
    request = ProfileRequest(
        destination=Endpoint("dtn2"), axes=[parse_axis(one) for one in axes], points=points
    )
    context = Context.__new__(Context)
    return grids_of(request, stages, context)  # type: ignore[arg-type] # stages of this test


def values(grid: Any, name: str) -> list[Any]:
    (axis,) = [axis for axis in grid.axes if axis.name == name]
    return list(axis.values)


def test_without_a_declaration_flows_double_and_the_rest_is_spread() -> None:
    one, two = grids(points=3)
    assert values(one, "streams") == [1, 2, 4, 8, 12]
    assert {65536, AUTOMATIC} <= set(values(one, "buffer_bytes"))
    assert len(values(two, "block_bytes")) == 3
    assert all(setting["fixed"] == 1 for setting in one.settings)


def test_declared_values_are_taken_also_beyond_what_a_search_would_try() -> None:
    one, two = grids("streams=1,32", "buffer=auto,128MiB")
    assert values(one, "streams") == [1, 32]
    assert values(one, "buffer_bytes") == [AUTOMATIC, 2**27] == values(two, "buffer_bytes")


def test_a_range_is_spread_on_the_scale_of_the_parameter() -> None:
    _, two = grids("block=8KiB..1MiB:4")
    found = values(two, "block_bytes")
    assert (found[0], found[-1], len(found)) == (8192, 2**20, 4)
    ratios = [b / a for a, b in itertools.pairwise(found)]
    assert max(ratios) / min(ratios) < 1.1


def test_a_subject_in_front_restricts_the_values_to_it() -> None:
    one, two = grids("two.buffer=1MiB")
    assert values(two, "buffer_bytes") == [2**20]
    assert len(values(one, "buffer_bytes")) > 1


def test_sizes_are_rounded_to_what_the_parameter_can_have() -> None:
    _, two = grids("block=1500")
    assert values(two, "block_bytes") == [1024]


def test_more_flows_than_allowed_are_left_out() -> None:
    files = Parameter(name="concurrency", lower=1, upper=8, unit="")
    (grid,) = grids(stages=(Stage("tool", files, STREAMS, most_flows=16),))
    assert max(s["concurrency"] * s["streams"] for s in grid.settings) <= 16


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("packet=3", "nothing that is measured has this parameter: one has streams"),
        ("one.block=3", "nothing that is measured has this parameter"),
        ("three.streams=3", "nothing that is measured"),
        ("streams=0", "0 is not from 1 to 128"),
        ("streams=500", "500 is not from 1 to 128"),
        ("block=0,8KiB", "at least one byte"),
        ("block=9GiB", "is not from 1024"),
        ("block=auto", "no automatic value"),
    ],
)
def test_what_cannot_be_measured_is_refused(typed: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        grids(typed)


@pytest.mark.parametrize(
    "typed",
    ["", "streams", "streams=", "=1", "streams=1,,2", "streams=x", "streams=8..1:3",
     "streams=1..8:1", "streams=1..8:999", "buffer=1 MiB", "buffer=1e400", "streams=1.5"],
)  # fmt: skip
def test_nonsense_is_refused_with_a_sentence(typed: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_axis(typed)


def test_a_grid_of_too_many_settings_is_refused() -> None:
    many = ",".join(str(n) for n in range(1, 129))
    with pytest.raises(ValueError, match="at most 100000 settings"):
        grids(
            f"streams={many}",
            "buffer=64KiB..16MiB:200",
            "block=8KiB..1MiB:200",
            stages=(Stage("one", STREAMS, BUFFER, BLOCK),),
        )
