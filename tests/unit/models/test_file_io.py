import pytest

from advisor.domain.file_io import FileIoJob, FileIoResult, Filesystem, IoDirection
from advisor.models.file_io import fastest, full_jobs, most_bytes, quick_jobs

MIB = 2**20
GIB = 2**30


def with_free(free_bytes: int, kind: str = "xfs") -> Filesystem:
    return Filesystem(
        folder="/data",
        kind=kind,
        device="/dev/sdb",
        mount_point="/data",
        total_bytes=2**50,
        free_bytes=free_bytes,
        writable=True,
    )


@pytest.mark.parametrize(
    ("free_bytes", "expected"),
    [
        (0, 0),
        (1279 * MIB, 0),
        (1280 * MIB, 64 * MIB),
        (20 * GIB, GIB),
        (80 * GIB, 4 * GIB),
        (2**50, 4 * GIB),
    ],
)
def test_a_test_file_is_a_twentieth_of_the_free_space(free_bytes: int, expected: int) -> None:
    assert most_bytes(with_free(free_bytes)) == expected


@pytest.mark.parametrize("direction", ["read", "write"])
def test_the_whole_grid(direction: IoDirection) -> None:
    jobs = full_jobs(direction, with_free(2**40))
    assert {(j.threads, j.request_bytes, j.direct) for j in jobs} == {
        (threads, size, direct)
        for threads in (1, 2, 4, 8, 16)
        for size in (64 * 1024, MIB, 8 * MIB)
        for direct in (True, False)
    }
    assert len(jobs) == 30
    assert {(j.direction, j.total_bytes) for j in jobs} == {(direction, 4 * GIB)}


@pytest.mark.parametrize("kind", ["xfs", "tmpfs"])
def test_direct_only_where_it_can_be(kind: str) -> None:
    filesystem = with_free(2**40, kind)
    assert {j.direct for j in full_jobs("write", filesystem)} == (
        {True, False} if kind == "xfs" else {False}
    )
    assert {j.direct for j in quick_jobs("write", filesystem)} == {kind == "xfs"}


@pytest.mark.parametrize(("kind", "modes"), [("xfs", [True, False]), ("tmpfs", [False])])
def test_both_modes_where_a_tool_has_the_choice(kind: str, modes: list[bool]) -> None:
    jobs = quick_jobs("write", with_free(2**40, kind), both_modes=True)
    assert [(j.direct, j.threads) for j in jobs] == [(m, t) for m in modes for t in (1, 4, 16)]


def test_quick_ones_fit_into_a_session() -> None:
    jobs = quick_jobs("write", with_free(2**40))
    assert [j.threads for j in jobs] == [1, 4, 16]
    assert sum(j.ceiling_s for j in jobs) <= 5


@pytest.mark.parametrize("free_bytes", [0, 1280 * MIB, 3 * GIB])
def test_every_thread_has_room_for_a_request(free_bytes: int) -> None:
    filesystem = with_free(free_bytes)
    for jobs in (quick_jobs("read", filesystem), full_jobs("read", filesystem)):
        assert all(j.threads * j.request_bytes <= j.total_bytes for j in jobs)
        assert all(j.total_bytes == most_bytes(filesystem) for j in jobs)
        assert bool(jobs) is (free_bytes > 0)


def measured(threads: int, request_bytes: int, moved_bytes: int) -> tuple[FileIoJob, FileIoResult]:
    job = FileIoJob(
        direction="write",
        threads=threads,
        request_bytes=request_bytes,
        direct=True,
        total_bytes=GIB,
        ceiling_s=1,
    )
    return job, FileIoResult(moved_bytes=moved_bytes, elapsed_s=2, cpu_cores=1, program="fio-3.33")


def test_the_best_of_several() -> None:
    results = [measured(4, MIB, 300), measured(1, MIB, 100), measured(4, 8 * MIB, 200)]
    assert fastest(results) == results[0]


def test_the_best_of_nothing() -> None:
    assert fastest([]) is None
