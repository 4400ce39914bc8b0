"""The events of a tuned transfer: made up, since a real one takes minutes."""

import math

from advisor.domain import events as ev
from advisor.domain.advice import Fulfilment, PriorAdvice
from advisor.domain.endpoints import Pair
from advisor.domain.plan import ClassProgress

PAIR = Pair("dtn1", "dtn[2]")
EPOCH_S = 30
FILES = 40
TOTAL_BYTES = 60 * 10**9
SETTINGS = [(2, 8), (3, 8), (2, 9), (4, 8), (6, 8), (8, 7), (8, 8)]
"""Files at a time and streams of each epoch in turn, the last one from then on."""

ADVISED = PriorAdvice(
    session="20260101T000000Z-aaaaaa",
    subject="tcp",
    setting={"streams": 4},
    advised_s=1.7e9,
    expected_bps=9.75e8,
    interval_bps=(9e8, 1.05e9),
)
LOADED_FROM_S, LOADED_TO_S = 150, 270


def setting_of(epoch: int) -> dict[str, int | float | str]:
    """`epoch`: from 1."""
    files, streams = SETTINGS[min(epoch, len(SETTINGS)) - 1]
    return {"concurrency": files, "parallelism": streams}


def rate_bps(at_s: int) -> float:
    files, streams = SETTINGS[min(at_s // EPOCH_S, len(SETTINGS) - 1)]
    share = 0.5 if LOADED_FROM_S <= at_s < LOADED_TO_S else 1.0
    wave = 1 + 0.1 * math.sin(at_s * 1.7)
    return share * wave * min(1.5e9, 2.5e7 * files * streams)


def started(at_s: float = 2.0, **more: object) -> ev.TransferStarted:
    fields = {"method": "nelder-mead", "setting": setting_of(1)} | more
    return ev.TransferStarted(
        at_s=at_s,
        session="20260101T000000Z-cccccc",
        pair=PAIR,
        epoch_s=float(EPOCH_S),
        files=FILES,
        total_bytes=TOTAL_BYTES,
        **fields,  # type: ignore[arg-type]  # any of them
    )


def moving(at_s: float, moved_bytes: int, bps: float, **more: object) -> ev.FilesMoving:
    one = ClassProgress(
        size="all",
        files=FILES * moved_bytes // TOTAL_BYTES,
        total_files=FILES,
        moved_bytes=moved_bytes,
        total_bytes=TOTAL_BYTES,
        rate_bps=bps,
        clients=4,
        parallelism=8,
        concurrency=4,
    )
    left_s = (TOTAL_BYTES - moved_bytes) * 8 / bps if bps else 0.0
    fields = {"phase": "transfer", "left_s": (left_s, left_s * 0.9, left_s * 1.2)} | more
    return ev.FilesMoving(at_s=at_s, classes=[one], **fields)  # type: ignore[arg-type]  # any of them


def under_way(seconds: int = 400) -> list[ev.AnyEvent]:
    """The first seconds of it: it searches, meets an external load for two minutes, searches."""
    recorded: list[ev.AnyEvent] = [started()]
    moved = 0.0
    gave: list[float] = []
    for second in range(seconds):
        at_s = 2.0 + second
        if second in (LOADED_FROM_S, LOADED_TO_S):
            number = 16 if second == LOADED_FROM_S else 0
            recorded.append(ev.LoadChanged(at_s=at_s, transfers=number, compute=0))
        moved += rate_bps(second) / 8
        gave.append(rate_bps(second))
        recorded.append(moving(at_s + 1, int(moved), rate_bps(second)))
        if second % EPOCH_S == EPOCH_S - 1:
            recorded += _epoch_ended(second // EPOCH_S + 1, at_s + 1, gave)
            gave = []
    return recorded


def _epoch_ended(epoch: int, at_s: float, gave: list[float]) -> list[ev.AnyEvent]:
    mean = sum(gave) / len(gave)
    old, new = setting_of(epoch), setting_of(epoch + 1)
    ended = ev.EpochEnded(
        at_s=at_s, epoch=epoch, setting=old, throughput_bps=mean, stderr_bps=mean / 30
    )
    changed = ev.SettingChanged(
        at_s=at_s,
        epoch=epoch,
        old=old,
        new=new,
        throughput_bps=mean,
        reason="reflected: away from the worst of three",
    )
    return [ended, changed] if new != old else [ended]


def ended(*, complete: bool = True, advised: bool = False, **more: object) -> ev.TransferEnded:
    missing = [] if complete else ["run [7]/a.dat: no access", "run [7]/b.dat: it changed"]
    promised = Fulfilment(
        session="20260101T000000Z-aaaaaa",
        subject="tcp",
        advised_s=1.7e9,
        interval_bps=(1.1e9, 1.4e9),
        rate_bps=1.2e9,
    )
    fields = {
        "at_s": 410.0,
        "complete": complete,
        "files": FILES if complete else FILES - 2,
        "moved_bytes": TOTAL_BYTES,
        "elapsed_s": 400.0,
        "message": "all 40 files are there, 55.9 GiB in 6 min 40 s, 1.2 Gbit/s"
        if complete
        else "38 of 40 files are there whole, 2 could not be moved",
        "missing": missing,
        "missing_files": len(missing),
        "exit_code": 0 if complete else 1,
        "advised": promised if advised else None,
    }
    return ev.TransferEnded(**fields | more)  # type: ignore[arg-type]  # any of them
