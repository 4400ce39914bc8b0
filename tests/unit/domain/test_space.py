import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.domain.space import Parameter, Scale, Space, setting_key, setting_words
from advisor.traits import describe


def streams() -> Parameter:
    return Parameter(name="streams", unit="", lower=1, upper=25)


def buffers(scale: Scale) -> Parameter:
    return Parameter(name="buffer_bytes", unit="B", lower=2**14, upper=2**24, scale=scale)


def files_and_streams(most_flows: int | None, least_streams: int = 1) -> Space:
    return Space(
        parameters=(
            Parameter(name="concurrency", unit="files", lower=1, upper=40),
            Parameter(name="parallelism", unit="streams", lower=least_streams, upper=16),
        ),
        cost_order=("concurrency", "parallelism"),
        most_flows=most_flows,
    )


@pytest.mark.parametrize(
    ("files", "streams", "most", "bounded"),
    [
        (4, 8, None, (4, 8)),
        (4, 8, 32, (4, 8)),
        (4, 8, 31, (4, 7)),
        (40, 8, 31, (31, 1)),
    ],
)
def test_parallelism_gives_way_first(
    files: int, streams: int, most: int | None, bounded: tuple[int, int]
) -> None:
    space = files_and_streams(most)
    setting = {"concurrency": files, "parallelism": streams}
    assert tuple(space.bounded(setting).values()) == bounded
    assert space.holds(setting) == (bounded == (files, streams))


def test_where_parallelism_cannot_give_way_there_are_fewer_files() -> None:
    space = files_and_streams(100, least_streams=8)
    assert space.bounded({"concurrency": 40, "parallelism": 16}) == {
        "concurrency": 12,
        "parallelism": 8,
    }
    fixed = Space(
        parameters=(space.parameters[0],),
        cost_order=("concurrency",),
        fixed={"parallelism": 8},
        most_flows=100,
    )
    assert fixed.setting_at({"concurrency": 1.0}) == {"concurrency": 12, "parallelism": 8}


def test_a_space_without_any_setting_is_refused() -> None:
    with pytest.raises(ValueError, match="more than 7 flows"):
        files_and_streams(7, least_streams=8)


@given(st.floats(min_value=-1, max_value=2), st.sampled_from(Scale))
def test_a_value_is_always_within_its_bounds(fraction: float, scale: Scale) -> None:
    parameter = buffers(scale)
    assert parameter.lower <= parameter.value_at(fraction) <= parameter.upper


def automatic(scale: Scale) -> Parameter:
    return Parameter(
        name="buffer_bytes", unit="B", lower=2**14, upper=2**24, scale=scale, automatic=True
    )


@given(st.floats(min_value=-1, max_value=2), st.sampled_from(Scale))
def test_what_the_kernel_may_choose_is_a_size_or_0(fraction: float, scale: Scale) -> None:
    assert automatic(scale).contains(automatic(scale).value_at(fraction))


@pytest.mark.parametrize("scale", Scale)
def test_the_kernels_own_lies_one_step_above_the_upper_bound(scale: Scale) -> None:
    parameter = automatic(scale)
    top = parameter.fraction_of(parameter.upper)
    assert parameter.value_at(top) == parameter.upper
    assert parameter.value_at(1.0) == 0
    assert parameter.fraction_of(0) == 1.0
    assert top < 1.0
    assert parameter.value_at(top + 0.4 * (1 - top)) == parameter.upper
    assert parameter.value_at(top + 0.6 * (1 - top)) == 0


def test_the_kernels_own_is_twice_the_largest_size() -> None:
    parameter = automatic(Scale.LINEAR)
    assert [parameter.doubled(v) for v in (2**20, 2**23, 2**24, 0)] == [2**21, 2**24, 0, 0]
    assert [parameter.halved(v) for v in (0, 2**24, 2**14)] == [2**24, 2**23, 2**14]
    assert buffers(Scale.LINEAR).doubled(2**24) == 2**24
    assert not buffers(Scale.LINEAR).contains(0)


def test_scales_differ_in_the_middle() -> None:
    assert buffers(Scale.LINEAR).value_at(0.5) == (2**14 + 2**24) // 2
    assert buffers(Scale.LOG2).value_at(0.5) == 2**19


@given(st.integers(min_value=2**14, max_value=2**24), st.sampled_from(Scale))
def test_a_value_is_found_again_from_its_fraction(value: int, scale: Scale) -> None:
    parameter = buffers(scale)
    assert parameter.value_at(parameter.fraction_of(value)) == pytest.approx(value, abs=1)


@given(st.floats(min_value=0, max_value=1))
def test_a_block_is_a_whole_number_of_payloads(fraction: float) -> None:
    block = Parameter(name="block", unit="B", lower=1456, upper=1456 * 25, quantum=1456)
    assert block.value_at(fraction) % 1456 == 0


@pytest.mark.parametrize(
    ("lower", "upper", "quantum"), [(0, 5, 1), (6, 5, 1), (1, 5, 0), (3, 9, 2)]
)
def test_bounds_that_cannot_be_are_refused(lower: int, upper: int, quantum: int) -> None:
    with pytest.raises(ValueError, match="bounds"):
        Parameter(name="x", unit="", lower=lower, upper=upper, quantum=quantum)


def test_fewer_streams_are_cheaper_than_smaller_buffers() -> None:
    space = Space(
        parameters=(buffers(Scale.LOG2), streams()), cost_order=("streams", "buffer_bytes")
    )
    few = {"streams": 2, "buffer_bytes": 2**24}
    many = {"streams": 3, "buffer_bytes": 2**14}
    default = {"streams": 2, "buffer_bytes": 0}
    assert sorted([many, few, default], key=space.cost) == [default, few, many]


def test_a_setting_carries_what_is_fixed() -> None:
    space = Space(parameters=(streams(),), cost_order=(), fixed={"congestion": "bbr"})
    assert space.setting_at({"streams": 1.0}) == {"streams": 25, "congestion": "bbr"}


def test_the_order_of_names_does_not_make_a_setting() -> None:
    assert setting_key({"a": 1, "b": 2}) == setting_key({"b": 2, "a": 1})


def test_words() -> None:
    setting = {"streams": 1, "buffer_bytes": 0, "congestion": "cubic"}
    assert describe("tcp", setting) == "TCP, 1 stream, the kernel's own buffers, cubic"
    setting = {"block_bytes": 8956 * 4, "buffer_bytes": 2**23, "mss_bytes": 9000}
    assert describe("udt", setting) == "UDT, 35.0 KiB blocks, 8 MiB buffers, packets of 9000 B"
    assert setting_words({"depth": 3, "streams": 2}) == "2 streams, depth 3"
    assert setting_words({}) == "setting not known"
