"""The rules of Single Chunk and ProMC against the examples in HARP (2018)."""

import pytest

from advisor.domain.dataset import Dataset
from advisor.domain.transfers import Levels
from advisor.models.file_classes import FileClass, Size, classify, of_sizes
from advisor.models.transfer_heuristics import (
    buffer_of,
    class_levels,
    classes_of,
    levels_of,
    share_channels,
)
from advisor.testing.samples import a_host, a_path

MB = 10**6
BDP, BUFFER = 48 * MB, 32 * MB


def a_class(mb: float, files: int) -> FileClass:
    (one,) = classify(of_sizes([(int(mb * MB), files)]), BDP)
    return one


@pytest.mark.parametrize(
    ("mb", "files", "levels"),
    [
        # Section 4: "SC calculates more than 10 channels for small files so it uses 10".
        (4, 10000, Levels(concurrency=10, parallelism=1, pipelining=12)),
        # "On the other hand, it estimates concurrency value 2 for large files".
        (2000, 50, Levels(concurrency=2, parallelism=2, pipelining=1)),
        (2000, 1, Levels(concurrency=1, parallelism=2, pipelining=1)),
        (22, 1000, Levels(concurrency=2, parallelism=1, pipelining=2)),
        (40, 1000, Levels(concurrency=2, parallelism=2, pipelining=1)),
    ],
)
def test_levels_of_a_class_on_the_path_of_table_1(mb: float, files: int, levels: Levels) -> None:
    assert levels_of(a_class(mb, files), BDP, BUFFER, most_concurrency=10) == levels


def test_channels_are_shared_by_weighted_bytes_and_none_is_left_over() -> None:
    tiny, small, large = a_class(4, 2500), a_class(20, 500), a_class(2000, 5)
    assert share_channels([small, large], 10) == [7, 3]
    assert share_channels([tiny, small, large], 10) == [6, 3, 1]
    assert share_channels([tiny, small, large], 2) == [1, 1, 0]
    assert share_channels([large], 7) == [7]


def test_no_class_goes_without_a_channel_while_there_are_as_many() -> None:
    """Nearly all bytes are of one class: what is left by rounding is too little for the others."""
    tiny, small, large = a_class(4, 25), a_class(20, 5), a_class(2000, 250)
    assert share_channels([tiny, small, large], 10) == [1, 1, 8]
    assert share_channels([tiny, small, large], 3) == [1, 1, 1]
    assert share_channels([tiny, small, large], 2) == [1, 0, 1]


def test_a_dataset_without_sizes_is_one_class_by_its_mean() -> None:
    (one,) = classes_of(Dataset(total_bytes=4000 * MB, files=1000), BDP)
    assert (one.size, one.files) == (Size.TINY, 1000)
    (whole,) = classes_of(Dataset(total_bytes=4000 * MB), BDP)
    assert (whole.size, whole.files) == (Size.LARGE, 1)
    assert classes_of(None, BDP) == []


def test_without_a_buffer_one_stream_holds_the_path() -> None:
    assert class_levels(None, BDP, None, 10) == [(None, Levels(concurrency=2, parallelism=1))]
    assert class_levels(None, BDP, BUFFER, 1) == [(None, Levels(concurrency=1, parallelism=2))]


def test_the_buffer_is_the_smaller_maximum_of_sender_and_receiver() -> None:
    def path(send: int | None, receive: int | None) -> int | None:
        return buffer_of(
            a_path(
                source=a_host(tcp_wmem_bytes=send and (1, 2, send)),
                destination=a_host(tcp_rmem_bytes=receive and (1, 2, receive)),
            )
        )

    assert (path(8, 9), path(9, 8), path(None, 9), path(None, None)) == (8, 8, 9, None)
