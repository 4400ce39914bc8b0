"""The methods without a search of their own: raised until it gains no more, or worked out."""

import pytest

from advisor.domain.dataset import Dataset
from advisor.domain.space import Space
from advisor.methods.api import Knowledge
from advisor.testing.samples import a_host, a_path, a_space, a_transfer_space
from tests.plugins.searches import asked, counts, make, tell

PLANE = counts(concurrency=(1, 64), parallelism=(1, 64))
# 10 Gbit/s × 40 ms are 50 MB under way; 32 MiB to a stream. As in table 1 of HARP.
XSEDE = a_path(
    rtt_s=0.04,
    source=a_host(tcp_wmem_bytes=(4096, 16384, 32 * 2**20)),
    destination=a_host(tcp_rmem_bytes=(4096, 131072, 64 * 2**20)),
)


def files(*sizes: tuple[int, int]) -> Knowledge:
    """This many files of this many MB each, on that path."""
    bins = tuple(((mb * 10**6).bit_length() - 1, n, n * mb * 10**6) for n, mb in sizes)
    total = sum(n * mb * 10**6 for n, mb in sizes)
    return Knowledge(path=XSEDE, dataset=Dataset(total_bytes=total, sizes=bins))


def test_heur1_adds_one_while_that_gains_more_than_5_percent() -> None:
    method = make("heur1", PLANE)
    # Concurrency: +6 %, then +3.8 %: back to 3. Parallelism: 6 % less: back to 8.
    assert tell(method, 100, 106, 110, 100) == [(2, 8), (3, 8), (4, 8), (3, 9)]
    assert method.ask() is None
    assert method.best() == ({"concurrency": 4, "parallelism": 8}, 110e9)


def test_heur1_measures_a_gain_against_the_last_that_counted() -> None:
    method = make("heur1", PLANE)
    tell(method, 100, 104)
    assert method.move_reason is not None
    assert "back to 2 files at a time" in method.move_reason
    # 106 is more than 5 % above 100, though not above 104.
    tell(method, 106)
    assert asked(method) == (2, 10)


def test_heur2_doubles_parallelism_first_and_stops_at_the_bound() -> None:
    method = make("heur2", PLANE)
    rates = (100, 120, 140, 160, 150, 170)
    settings = [(2, 8), (2, 16), (2, 32), (2, 64), (4, 64)]
    assert tell(method, *rates[:5]) == settings
    assert method.ask() is None
    assert method.stop_reason is not None


def test_heur2_never_goes_below_where_it_began() -> None:
    method = make("heur2", counts(concurrency=(1, 4), parallelism=(1, 16)))
    assert tell(method, 100, 90, 80) == [(2, 8), (2, 16), (4, 8)]
    assert method.ask() is None


def test_pcp_doubles_from_one_until_the_throughput_stops_increasing() -> None:
    method = make("pcp", a_transfer_space())
    # Pipelining, parallelism, concurrency: an equal throughput is no increase.
    rates = (10, 11, 11, 12, 13, 12, 14, 13)
    assert tell(method, *rates) == [
        *((1, 1, 1), (1, 1, 2), (1, 1, 4)),
        *((1, 2, 2), (1, 4, 2), (1, 8, 2)),
        *((2, 4, 2), (4, 4, 2)),
    ]
    assert method.ask() is None


@pytest.mark.parametrize(
    ("knowledge", "first"),
    [
        (files((10000, 2)), (1, 1, 2)),
        (files((1000, 25)), (1, 1, 2)),
        (files((100, 100)), (1, 2, 1)),
        (files((20, 3000)), (1, 2, 1)),
        (files((10000, 2), (20, 3000)), (1, 2, 1)),
    ],
)
def test_pcp_raises_first_what_helps_the_class_with_the_most_bytes(
    knowledge: Knowledge, first: tuple[int, int, int]
) -> None:
    method = make("pcp", a_transfer_space(), knowledge)
    tell(method, 1)
    assert asked(method) == first


def test_pcp_leaves_parallelism_alone_for_tiny_files() -> None:
    method = make("pcp", a_transfer_space(), files((10000, 2)))
    assert tell(method, 3, 2, 2) == [(1, 1, 1), (1, 1, 2), (2, 1, 1)]
    assert method.ask() is None


@pytest.mark.parametrize(
    ("space", "setting"),
    [
        (a_transfer_space(), {"concurrency": 2, "parallelism": 8, "pipelining": 1}),
        (counts(streams=(1, 25)), {"streams": 16}),
        (counts(streams=(1, 12)), {"streams": 12}),
        (a_space(), {"streams": 16, "buffer_bytes": 2**26}),
        (counts(cc=(4, 9), p=(1, 6), block_bytes=(3, 7)), {"cc": 4, "p": 6, "block_bytes": 3}),
    ],
)
def test_globus_default_is_the_nearest_setting_the_space_has(
    space: Space, setting: dict[str, int]
) -> None:
    method = make("globus-default", space)
    assert method.ask() == setting
    tell(method, 1)
    assert method.ask() is None
    assert method.stop_reason is not None
    assert "concurrency 2, parallelism 8" in method.stop_reason


def test_single_chunk_asks_one_setting_for_each_class() -> None:
    method = make("single-chunk", a_transfer_space(), files((10000, 4), (1000, 25), (20, 2000)))
    # Tiny: 50 / 4 MB: 12.5 → 13 files fill the path, more than 10; 4 MB is less than a buffer.
    # Small: 2 files. Large: 2 all the same; ⌈50 / 33.6⌉ streams.
    assert tell(method, 3, 2, 1) == [(10, 1, 13), (2, 1, 2), (2, 2, 1)]
    assert method.ask() is None
    assert method.best() == ({"concurrency": 10, "parallelism": 1, "pipelining": 13}, 3e9)


def test_single_chunk_takes_no_more_concurrency_than_files_or_the_user_allows() -> None:
    assert asked(make("single-chunk", a_transfer_space(), files((3, 4)))) == (3, 1, 13)
    assert asked(make("single-chunk", a_transfer_space(), files((1000, 4)), maxCC=5)) == (5, 1, 13)


def test_classes_with_the_same_setting_share_a_probe() -> None:
    method = make("single-chunk", counts(parallelism=(1, 64)), files((10000, 4), (1000, 25)))
    assert tell(method, 1) == [1]
    assert method.ask() is None


def test_promc_uses_all_channels_and_the_mean_of_what_the_classes_want() -> None:
    method = make("promc", a_transfer_space(), files((10000, 4), (20, 2000)))
    # 40 GB each, weights 6 and 1: 8 channels and 1, and the one that is left to the fewer: 8 and 2.
    # Parallelism (8 × 1 + 2 × 2) / 10 → 1; pipelining (8 × 13 + 2 × 1) / 10 → 11.
    assert tell(method, 1) == [(10, 1, 11)]
    assert method.ask() is None


def test_without_a_dataset_files_count_as_large() -> None:
    knowledge = Knowledge(path=XSEDE)
    assert asked(make("single-chunk", a_transfer_space(), knowledge)) == (2, 2, 1)
    assert asked(make("promc", a_transfer_space(), knowledge)) == (10, 2, 1)


def test_without_a_path_nothing_is_assumed_of_it() -> None:
    knowledge = Knowledge(dataset=Dataset(total_bytes=10**12, files=10**6))
    assert asked(make("single-chunk", a_transfer_space(), knowledge)) == (2, 1, 1)
    assert asked(make("promc", a_transfer_space(), knowledge)) == (10, 1, 1)
