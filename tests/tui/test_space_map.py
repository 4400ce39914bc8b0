import msgspec
import pytest

from advisor.domain.space import Parameter, Scale, Space
from advisor.tui.features.advising.session_model import ProbeModel
from advisor.tui.features.advising.widgets.bins import Axis, Grid, trail, value_words, zoomed

STREAMS = Parameter(name="streams", unit="", lower=1, upper=25)
BUFFER = Parameter(name="buffer_bytes", unit="B", lower=1024, upper=2**20, scale=Scale.LOG2)
PLANE = Space(parameters=(BUFFER, STREAMS), cost_order=("streams",))


def _probe(ordinal: int, buffer_bytes: int, streams: int, label: str) -> ProbeModel:
    return ProbeModel(
        ordinal=ordinal,
        stage="tcp",
        purpose="search",
        subject="tcp",
        setting={"buffer_bytes": buffer_bytes, "streams": streams},
        label=label,
        began_s=ordinal,
    )


@pytest.mark.parametrize("parameter", [STREAMS, BUFFER])
@pytest.mark.parametrize("most", [1, 5, 12])
def test_bounds_fall_into_the_first_and_last_cell(parameter: Parameter, most: int) -> None:
    axis = Axis.fitting(parameter, most)
    assert axis.count == most
    assert axis.index_of(parameter.lower) == 0
    assert axis.index_of(parameter.upper) == most - 1


def test_no_more_cells_than_values() -> None:
    few = Parameter(name="n", unit="", lower=2, upper=4)
    assert Axis.fitting(few, 40).count == 3


def test_doubling_is_one_step_on_a_logarithmic_scale() -> None:
    axis = Axis.fitting(BUFFER, 10)
    assert [axis.index_of(1024 * 2**i + 1) for i in range(10)] == list(range(10))


def test_settings_outside_of_the_space_have_no_cell() -> None:
    grid = Grid.fitting(PLANE, 10, 10)
    assert grid.cell_of({"buffer_bytes": 0, "streams": 4}) is None
    assert grid.cell_of({"streams": 4}) is None
    assert grid.cell_of({"buffer_bytes": 1024, "streams": 25}) == (0, 9)


def test_space_of_one_parameter_is_one_row() -> None:
    grid = Grid.fitting(Space(parameters=(STREAMS,), cost_order=()), 5, 10)
    assert grid.up is None
    assert grid.cell_of({"streams": 25}) == (4, 0)


def test_trail_joins_the_moves_and_leaves_out_the_steps_aside() -> None:
    grid = Grid.fitting(PLANE, 10, 5)
    probes = [
        _probe(1, 2**20, 25, "y*"),
        _probe(2, 1024, 1, "y+"),
        _probe(3, 2**20, 1, "y*"),
        _probe(4, 1024, 25, "by hand"),
    ]
    assert trail(grid, probes) == [(9, 4), (9, 3), (9, 2), (9, 1), (9, 0)]


def test_trail_of_a_search_without_marked_moves_goes_through_all_its_probes() -> None:
    grid = Grid.fitting(PLANE, 10, 5)
    assert trail(grid, [_probe(1, 1024, 1, ""), _probe(2, 1024, 10, "")]) == [(0, 0), (0, 1)]


def test_doublings_have_a_cell_each_and_their_own_numbers() -> None:
    parameter = Parameter(name="concurrency", unit="", lower=1, upper=16, scale=Scale.LOG2)
    grid = Grid.of_doublings(Space(parameters=(parameter,), cost_order=()), 20, 10)
    values = [1, 2, 4, 8, 16]
    assert [grid.across.value_at(index) for index in range(grid.across.count)] == values
    assert [grid.across.index_of(value) for value in values] == [0, 1, 2, 3, 4]
    single = Grid.of_doublings(Space(parameters=(parameter,), cost_order=()), 1, 1)
    assert single.across.value_at(0) == 1


def test_map_is_zoomed_to_whole_doublings_around_what_was_probed() -> None:
    probes = [_probe(1, 3000, 5, ""), _probe(2, 9000, 7, ""), _probe(3, 0, 25, "")]
    found = zoomed(PLANE, probes)
    assert found is not None
    assert [(p.lower, p.upper, p.scale) for p in found.parameters] == [
        (2048, 16384, Scale.LOG2),
        (4, 8, Scale.LOG2),
    ]
    assert zoomed(PLANE, [_probe(1, 0, 25, "")]) is None


def test_counts_have_no_more_cells_than_numbers() -> None:
    streams = Parameter(name="streams", unit="", lower=8, upper=16, scale=Scale.LOG2)
    grid = Grid.of_doublings(Space(parameters=(streams,), cost_order=()), 40, 10)
    values = [grid.across.value_at(index) for index in range(grid.across.count)]
    assert len(set(values)) == len(values) > 2


def test_the_kernels_own_buffers_are_the_last_cell_of_the_map() -> None:
    buffer = msgspec.structs.replace(BUFFER, automatic=True)
    plane = Space(parameters=(buffer, STREAMS), cost_order=())
    probes = [_probe(1, 2048, 5, ""), _probe(2, 8192, 7, ""), _probe(3, 0, 8, "")]
    found = zoomed(plane, probes)
    assert found is not None
    across = Grid.of_doublings(found, 4, 4).across
    values = [across.value_at(index) for index in range(across.count)]
    assert values == [2048, 4096, 8192, 0]
    assert [across.index_of(value) for value in values] == [0, 1, 2, 3]
    assert value_words(across.parameter, across.top) == "auto"
    alone = zoomed(plane, probes[2:])
    assert alone is not None
    assert Grid.of_doublings(alone, 4, 4).cell_of({"buffer_bytes": 0, "streams": 8}) is not None
