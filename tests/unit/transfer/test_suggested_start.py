"""Where a tuned transfer starts without advice."""

import msgspec
import pytest

from advisor.domain.endpoints import Pair
from advisor.domain.records import ProbeRecord
from advisor.domain.transfers import Levels
from advisor.store.ranking import STALE_S
from advisor.testing.samples import a_path, failed, measured
from advisor.transfer.tuned.suggested_start import past_levels, path_levels

NOW_S = 1.7e9
TOOL = "globus-url-copy"


def an_epoch(
    files: int, streams: int, bps: float, *, session: str = "a", age_s: float = 60.0
) -> ProbeRecord:
    return ProbeRecord(
        pair=Pair("dtn1", "dtn2"),
        subject=TOOL,
        setting={"concurrency": files, "parallelism": streams},
        result=measured(bps) if bps else failed(),
        recorded_s=NOW_S - age_s,
        session=session,
        stage="transfer",
    )


def test_it_starts_where_the_last_transfer_did_best() -> None:
    epochs = [an_epoch(8, 8, 9e9, session="older", age_s=900.0)] * 2
    epochs += [an_epoch(2, 8, 2e8), an_epoch(2, 8, 2.1e8)]
    epochs += [an_epoch(16, 8, 7e8), an_epoch(16, 8, 6.9e8), an_epoch(8, 8, 6.8e8)] * 2
    # 64 flows did within 5 % of 128.
    assert past_levels(epochs, TOOL, NOW_S) == Levels(concurrency=8, parallelism=8)


def test_one_epoch_and_failures_say_nothing() -> None:
    assert past_levels([an_epoch(8, 8, 9e8)], TOOL, NOW_S) is None
    assert past_levels([an_epoch(8, 8, 0.0)] * 3, TOOL, NOW_S) is None


def test_what_is_old_or_of_something_else_does_not_count() -> None:
    good = [an_epoch(8, 8, 9e8)] * 2
    assert past_levels(good, "rclone", NOW_S) is None
    assert past_levels(good, TOOL, NOW_S + STALE_S) is None
    probes = [msgspec.structs.replace(one, stage="tool") for one in good]
    assert past_levels(probes, TOOL, NOW_S) is None
    files_only = [msgspec.structs.replace(one, setting={"concurrency": 8}) for one in good]
    assert past_levels(files_only, TOOL, NOW_S) is None


@pytest.mark.parametrize(
    ("rate_bps", "window", "levels"),
    [
        # 100 ms at 10 Gbit/s are 125 MB: 30 windows of 4 MiB.
        (1e10, 2**22, Levels(concurrency=4, parallelism=8)),
        (1e10, 2**26, None),
        (1e9, 2**22, None),
    ],
)
def test_a_long_path_has_as_many_flows_as_fill_it(
    rate_bps: float, window: int, levels: Levels | None
) -> None:
    plain = a_path()
    ends = {
        "source": msgspec.structs.replace(plain.source, tcp_wmem_bytes=(4096, 16384, window)),
        "destination": msgspec.structs.replace(
            plain.destination, tcp_rmem_bytes=(4096, 131072, window)
        ),
    }
    path = msgspec.structs.replace(plain, rtt_s=0.1, bandwidth_bps=rate_bps, **ends)
    assert path_levels(path) == levels


def test_without_the_kernels_windows_nothing_is_suggested() -> None:
    plain = a_path()
    blind = msgspec.structs.replace(plain.source, tcp_wmem_bytes=None)
    other = msgspec.structs.replace(plain.destination, tcp_rmem_bytes=None)
    path = msgspec.structs.replace(
        plain, source=blind, destination=other, rtt_s=0.1, bandwidth_bps=1e12
    )
    assert path_levels(path) is None
