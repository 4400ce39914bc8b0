"""What a probe of a tool makes of the moments it saw."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from advisor import registry
from advisor.advising.tool_measurement import (
    ProbeFailed,
    measurement_of,
    with_moved,
    with_write_back,
)
from advisor.advising.tool_probing import ToolProber
from advisor.api.tool import Piece
from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Endpoint
from advisor.domain.measurement import FailureKind, Interval
from advisor.domain.space import Setting
from advisor.hosts.datasets import scan
from advisor.models.slicing import whole_bps
from advisor.probing.transfer import Ran
from advisor.runtime.request import AdviceRequest
from advisor.testing.samples import a_path


def _ran(mbytes: Sequence[float], begun_s: float = 0.5, closing_s: float = 0.5) -> Ran:
    """This many MB in each tenth of a second."""
    intervals = [Interval(n / 10, (n + 1) / 10, round(mb * 1e6)) for n, mb in enumerate(mbytes)]
    return Ran(
        status=0,
        intervals=intervals,
        moved_bytes=sum(one.received_bytes for one in intervals),
        begun_s=begun_s,
        elapsed_s=begun_s + len(intervals) / 10 + closing_s,
        retransmits=0,
        rtt_s=0.02,
        output="",
        errors="",
    )


def test_the_start_is_left_out_of_the_rate_and_is_in_the_time_beside_it() -> None:
    found = measurement_of(_ran([1, 2, 4, 8, *[10, 10.1, 9.9] * 10]))
    assert found.throughput_bps == pytest.approx(8e8, rel=0.03)
    # 0.4 s of the start gave 15 MB, which take 0.15 s at that rate.
    assert found.overhead_s == pytest.approx(1.0 + 0.25, abs=0.1)


def test_the_end_of_a_slice_belongs_to_the_whole() -> None:
    moments = [10, 10.1, 9.9] * 7 + [2, 2.1, 1.9] * 5
    found = measurement_of(_ran(moments))
    assert found.throughput_bps == pytest.approx(sum(moments) * 8e6 / (len(moments) / 10))
    assert found.overhead_s == pytest.approx(1.0)
    # Three times as much of the same takes three times as long, and its beginning once.
    whole = whole_bps(found.throughput_bps, found.overhead_s or 0, round(3 * sum(moments) * 1e6))
    assert 3 * sum(moments) * 8e6 / whole == pytest.approx(1.0 + 3 * len(moments) / 10)


def test_a_few_moments_count_together() -> None:
    found = measurement_of(_ran([1, 5, 9]))
    assert found.throughput_bps == pytest.approx(15 * 8e6 / 0.3)


def test_data_count_when_they_are_on_the_disk() -> None:
    ran = _ran([100.0] * 20)
    buffered = measurement_of(ran)
    found = with_write_back(buffered, ran.moved_bytes, 6.0)
    assert buffered.throughput_bps == pytest.approx(8e9)
    assert found.throughput_bps == pytest.approx(8e9 * 2 / (2 + 6))
    assert found.elapsed_s == pytest.approx(buffered.elapsed_s + 6)
    assert with_write_back(buffered, ran.moved_bytes, 0.0) == buffered


def _prober(tool: str, dataset: Dataset, most_bytes: int, *, keep: bool = False) -> ToolProber:
    """Of a session that moves it to the folder /store, up to four files at a time."""
    request = AdviceRequest(
        destination=Endpoint("dtn2"),
        tool=tool,
        dataset=dataset,
        destination_path="/store/",
        keep=keep,
    )
    prober = ToolProber.of(registry.transfer_tool(tool), request, a_path(), most_bytes, 4)
    prober._scratch = "/store/.advisor-1"
    return prober


class _Destination:
    """Writes back at this pace, and knows no sizes but the right ones."""

    def __init__(self, piece: Piece, written_s: float) -> None:
        self._piece = piece
        self._written_s = written_s
        self.synced: list[str] = []

    async def sync(self, paths: Sequence[str]) -> float:
        self.synced += paths
        return self._written_s

    async def sizes(self, paths: Sequence[str]) -> list[int | None]:
        return [self._piece.size_bytes for _ in paths]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("mode", "synced"), [({"direct": 0}, True), ({"direct": 1}, True), ({}, False)]
)
async def test_where_direct_io_is_a_choice_every_probe_ends_on_the_disk(
    tmp_path: Path, mode: Setting, synced: bool
) -> None:
    source = tmp_path / "f"
    source.write_bytes(b"x" * 2000)
    request = AdviceRequest(
        destination=Endpoint("dtn2"),
        tool="xdd",
        dataset=Dataset(total_bytes=2000, path=str(source), files=1, sizes=((10, 1, 2000),)),
        destination_path="/store/f",
    )
    prober = ToolProber.of(registry.transfer_tool("xdd"), request, a_path(), 2000, 1)
    prober._scratch = "/store/.advisor-1"
    taken = prober._slice(mode)
    [piece] = taken.pieces
    link: Any = _Destination(piece, written_s=2.0)
    ran = _ran([100.0] * 20)
    found = await prober._outcome(link, mode, taken, ran)
    prober._own_folder.cleanup()
    assert link.synced == ([piece.target] if synced else [])
    assert found.throughput_bps == pytest.approx(8e9 / (2 if synced else 1))


class _SmallOnesFirst:
    """A destination at which the small files are complete, and the others have no name yet."""

    async def sizes(self, paths: Sequence[str]) -> list[int | None]:
        return [1000 if "small" in path else None for path in paths]


@pytest.mark.asyncio
async def test_of_a_stopped_tool_with_an_order_of_its_own_each_file_is_counted(
    tmp_path: Path,
) -> None:
    for number in range(5):
        (tmp_path / f"{number}.small").write_bytes(b"x" * 1000)
        (tmp_path / f"{number}.large").write_bytes(b"x" * 10_000)
    dataset = Dataset(
        total_bytes=55_000,
        path=str(tmp_path),
        files=10,
        sizes=((9, 5, 5000), (13, 5, 50_000)),
    )
    prober = _prober("rsync", dataset, 55_000)
    setting: Setting = {"concurrency": 4, "parallelism": 1}
    taken = prober._slice(setting)
    link: Any = _SmallOnesFirst()
    ran = msgspec.structs.replace(_ran([0.016]), status=None)
    found = await prober._outcome(link, setting, taken, ran)
    prober._own_folder.cleanup()
    assert found.work
    assert found.work.is_cut
    assert found.work.files == pytest.approx(5 + 1.1)
    assert found.work.total_bytes == 16_000


def test_what_nobody_saw_pass_counts_evenly() -> None:
    ran = msgspec.structs.replace(_ran([0.1, 0, 0, 0]), status=None)
    found = with_moved(ran, 800_000)
    assert found.moved_bytes == 800_000
    assert [one.received_bytes for one in found.intervals] == [200_000] * 4
    assert [one.end_s for one in found.intervals] == [one.end_s for one in ran.intervals]
    assert with_moved(ran, 99_999) == ran
    unseen = msgspec.structs.replace(ran, moved_bytes=0, intervals=[])
    assert measurement_of(with_moved(unseen, 700_000)).throughput_bps == pytest.approx(
        700_000 * 8 / ran.elapsed_s
    )


class _TheFirst:
    """A destination with the first `here` files, all of their full size, and no others."""

    def __init__(self, here: int) -> None:
        self._here = here

    async def sizes(self, paths: Sequence[str]) -> list[int | None]:
        return [1000 if number < self._here else None for number in range(len(paths))]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("concurrency", "here", "complete"), [(1, 8, 7), (4, 8, 4), (4, 3, 0), (1, 0, 0)]
)
async def test_of_a_stopped_tool_the_files_count_that_were_moved_unseen(
    tmp_path: Path, concurrency: int, here: int, complete: int
) -> None:
    """Those under way do not: a server may give them their size at once."""
    for number in range(20):
        (tmp_path / str(number)).write_bytes(b"x" * 1000)
    sizes = ((9, 20, 20_000),)
    dataset = Dataset(total_bytes=20_000, path=str(tmp_path), files=20, sizes=sizes)
    prober = _prober("globus-url-copy", dataset, 20_000)
    setting: Setting = {"concurrency": concurrency, "parallelism": 1}
    taken = prober._slice(setting)
    assert len(taken.pieces) == 20
    link: Any = _TheFirst(here)
    seen = msgspec.structs.replace(_ran([0.0005, 0, 0, 0]), status=None)
    found = await prober._outcome(link, setting, taken, seen)
    prober._own_folder.cleanup()
    assert found.work
    assert found.work.is_cut
    assert found.work.total_bytes == max(500, 1000 * complete)


@pytest.mark.parametrize(
    ("whole_bytes", "keep", "extra_file", "can"),
    [
        (55_000, False, False, True),
        (54_999, False, False, False),
        (0, False, False, False),
        (10**6, True, False, False),
        (10**6, False, True, False),
    ],
)
def test_all_is_moved_where_it_fits_and_leaves_nothing(
    tmp_path: Path, whole_bytes: int, keep: bool, extra_file: bool, can: bool
) -> None:
    """`extra_file`: one that the tool cannot carry."""
    for number in range(5):
        (tmp_path / f"{number}.small").write_bytes(b"x" * 1000)
        name = f"{number}\n.large" if extra_file and not number else f"{number}.large"
        (tmp_path / name).write_bytes(b"x" * 10_000)
    dataset = Dataset(
        total_bytes=55_000,
        path=str(tmp_path),
        files=10,
        sizes=((9, 5, 5000), (13, 5, 50_000)),
    )
    prober = _prober("rclone", dataset, 10_000, keep=keep)
    prober.whole_bytes = whole_bytes
    prober.expect_by(lambda settings: [1e6 for _ in settings], lambda: 60.0)
    assert prober.can_move_all == can
    setting: Setting = {"concurrency": 2}
    assert len(prober._slice(setting).pieces) < 10, "nothing is known before the first probe"
    prober._last_s = 1.0
    assert (len(prober._slice(setting).pieces) == 10) == can
    assert prober.next_probe_s() > 1.0
    assert (prober.next_probe_s(setting) == pytest.approx(0.44)) == can
    prober.expect_by(lambda settings: [1e3 for _ in settings], lambda: 600.0)
    assert len(prober._slice(setting).pieces) < 10, "it would take too long"
    prober.expect_by(lambda settings: [1e6 for _ in settings], lambda: 0.4)
    assert len(prober._slice(setting).pieces) < 10, "the session ends before"
    prober._own_folder.cleanup()


@pytest.mark.parametrize("tool", ["rsync", "rclone", "s5cmd", "xrdcp", "aria2c", "xdd"])
def test_a_dataset_with_an_empty_file_has_slices_for_every_tool(tmp_path: Path, tool: str) -> None:
    for name, size in (("empty", 0), ("one", 100_000), ("two", 100_000)):
        (tmp_path / name).write_bytes(b"x" * size)
    prober = _prober(tool, scan(tmp_path), 10**9)
    taken = [prober._part_of_all(None) for _ in range(3)]
    prober._own_folder.cleanup()
    assert all({part.file.name for part in parts} >= {"one", "two"} for parts in taken)


@pytest.mark.asyncio
async def test_a_range_whose_probe_failed_is_moved_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `--keep`, what is kept of a single file has no hole."""
    (tmp_path / "f").touch()
    os.truncate(tmp_path / "f", 10**9)
    prober = _prober("globus-url-copy", scan(tmp_path / "f"), 10**8, keep=True)
    monkeypatch.setattr(ToolProber, "_keeps_ranges", property(lambda _: True))
    begun: list[int] = []

    async def fails(_link: object, taken: Any, *_others: object) -> Ran:
        begun.extend(part.offset_bytes for part in taken.parts)
        raise ProbeFailed(FailureKind.REFUSED, "refused")

    monkeypatch.setattr(prober, "_run", fails)
    for _ in range(3):
        await prober.measure(None, {"concurrency": 1, "parallelism": 1}, None)  # type: ignore[arg-type]  # Neither is used.
    prober._own_folder.cleanup()
    assert begun == [0, 0, 0]


def test_a_transfer_with_one_rate_is_not_exact() -> None:
    found = measurement_of(_ran([9]))
    assert len(found.intervals) == 1
    assert 0.2 < found.stderr_bps / found.throughput_bps <= 1
