"""A tuned transfer as text."""

import msgspec
import pytest

from advisor.domain import events as ev
from advisor.domain.advice import Fulfilment, PriorAdvice
from advisor.domain.endpoints import Pair
from advisor.domain.plan import ClassProgress, NodeProgress
from advisor.report.transfer import (
    advised_line,
    beside_the_bar,
    changed_line,
    ended_lines,
    nodes_line,
    progress_line,
    started_line,
)

NOW = ClassProgress(
    size="all",
    files=12,
    total_files=400,
    moved_bytes=3 * 2**30,
    total_bytes=10 * 2**30,
    rate_bps=9.41e9,
    clients=4,
    parallelism=8,
)


@pytest.mark.parametrize(
    ("gave_bps", "reason", "line"),
    [
        (9.41e9, "y fell", "  epoch 3: 2 × 8 gave 9.41 Gbit/s, now 10 × 1 (y fell)"),
        (0.0, "", "  epoch 3: 2 × 8 gave nothing, now 10 × 1"),
    ],
)
def test_a_change_says_what_was_and_what_is_next(gave_bps: float, reason: str, line: str) -> None:
    event = ev.SettingChanged(
        at_s=90.0,
        epoch=3,
        old={"concurrency": 2, "parallelism": 8},
        new={"concurrency": 10},
        throughput_bps=gave_bps,
        reason=reason,
    )
    assert changed_line(event) == line


def test_progress() -> None:
    event = ev.FilesMoving(at_s=90.0, phase="transfer", classes=[NOW])
    assert beside_the_bar(event) == "9.41 Gbit/s, 12 of 400 files, 4 × 8, about 6 s left"
    event = msgspec.structs.replace(event, phase="verify")
    assert beside_the_bar(event) == "9.41 Gbit/s"
    event = ev.FilesMoving(at_s=90.0, phase="transfer", classes=[NOW], left_s=(130.0, 120.0, 150.0))
    assert progress_line(event) == (
        "  3 GiB of 10 GiB, 9.41 Gbit/s, 12 of 400 files, 4 × 8, "
        "2 min 10 s left (90 %: 2 min to 2 min 30 s)"
    )


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("compass", "; tuned by compass, a control epoch is 30 s"),
        ("fixed", "; fixed"),
    ],
)
def test_the_start(method: str, words: str) -> None:
    event = ev.TransferStarted(
        at_s=1.0,
        session="feedcafe",
        pair=Pair("dtn01", "dtn02"),
        method=method,
        setting={"concurrency": 2, "parallelism": 8},
        epoch_s=30.0,
        files=400,
        total_bytes=10 * 2**30,
        earlier_bytes=3 * 2**30,
    )
    assert started_line(event) == (
        "dtn01->dtn02: session feedcafe, 7 GiB to move, starts at 2 × 8 (concurrency × "
        f"streams){words}"
    )


@pytest.mark.parametrize(
    ("rate_bps", "words"),
    [(3e8, "worse than predicted"), (1.5e9, "as predicted"), (3e9, "better than predicted")],
)
def test_whether_an_advice_came_true(rate_bps: float, words: str) -> None:
    advised = Fulfilment(
        session="feedcafe", advised_s=1.7e9, interval_bps=(1e9, 2e9), rate_bps=rate_bps
    )
    line = advised_line(advised)
    assert line.startswith("Session feedcafe predicted 1 to 2 Gbit/s; measured: ")
    assert words in line


def test_advice_on_the_network_is_called_that() -> None:
    advised = Fulfilment(
        session="feed", subject="tcp", advised_s=1.7e9, interval_bps=(1e9, 2e9), rate_bps=1.5e9
    )
    assert advised_line(advised) == (
        "Session feed predicted 1 to 2 Gbit/s over TCP (memory to memory); measured: "
        "1.50 Gbit/s, as predicted"
    )


def test_the_start_names_the_advice_it_is_compared_with() -> None:
    event = ev.TransferStarted(
        at_s=0.0,
        session="feedcafe",
        pair=Pair("dtn01", "dtn02"),
        method="fixed",
        setting={"concurrency": 1, "parallelism": 4},
        epoch_s=30.0,
        files=7,
        total_bytes=7 * 2**30,
        advised=PriorAdvice(
            session="feed",
            subject="globus-url-copy",
            setting={"concurrency": 1, "parallelism": 4},
            advised_s=1.7e9,
            expected_bps=9.75e8,
            interval_bps=(9e8, 1.05e9),
        ),
    )
    assert started_line(event).endswith("fixed; session feed advised 975 Mbit/s")


@pytest.mark.parametrize(("missing_files", "more"), [(2, []), (105, ["  and 103 more"])])
def test_the_end_names_what_is_missing(missing_files: int, more: list[str]) -> None:
    event = ev.TransferEnded(
        at_s=90.0,
        complete=False,
        files=5,
        moved_bytes=100,
        elapsed_s=89.0,
        message="5 of 7 files have arrived completely",
        missing=["a: gone", "b: closed"],
        missing_files=missing_files,
        exit_code=1,
    )
    assert ended_lines(event) == [
        "5 of 7 files have arrived completely",
        "  a: gone",
        "  b: closed",
        *more,
    ]


def test_the_start_over_several_nodes_names_no_setting() -> None:
    event = ev.TransferStarted(
        at_s=1.0,
        session="feedcafe",
        pair=Pair("dtn01", "dtn02"),
        method="doubling",
        setting={},
        epoch_s=30.0,
        decides=True,
        files=400,
        total_bytes=10 * 2**30,
        nodes=2,
    )
    assert started_line(event) == (
        "dtn01->dtn02: session feedcafe, 10 GiB to move over 2 nodes, each tuned by doubling; "
        "each control epoch ends when the rate difference is significant"
    )


def test_nodes_are_reported_in_a_line() -> None:
    moving = NodeProgress(
        number=1,
        pair=Pair("a", "b"),
        state="moving",
        moved_bytes=2**30,
        rate_bps=1e9,
        concurrency=4,
        parallelism=8,
    )
    lost = NodeProgress(number=2, pair=Pair("c", "d"), state="lost", message="why")
    event = ev.NodesMoving(at_s=1.0, nodes=[moving, lost])
    assert nodes_line(event) == "  a->b 1 Gbit/s at 4 × 8, 1 GiB; c->d lost"
