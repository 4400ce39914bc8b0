"""What is said while several destinations are served, and at the end."""

import msgspec
import pytest

from advisor.domain import events as ev
from advisor.domain.shares import ServedRow, ShareOutcome
from advisor.report.share_run import (
    changed_line,
    destination_ended_line,
    outcome_rows,
    seen_line,
    started_line,
)

TRAINING = ev.SharesStarted(
    at_s=1.0,
    session="feedcafe",
    purpose="train",
    source="dtn01",
    concurrency={"lab:five:kraken": 2, "lab:five:mason": 1},
    parallelism=8,
    epoch_s=10.0,
    lasts_s=600.0,
)
RUNNING = msgspec.structs.replace(
    TRAINING,
    purpose="run",
    lasts_s=None,
    total_bytes={"lab:five:kraken": 3 * 2**30, "lab:five:mason": 2**20},
)


def test_an_experiment_says_how_long_it_takes() -> None:
    assert started_line(TRAINING) == (
        "dtn01: session feedcafe, steps of at most 10 s, 10 min in all; starts with kraken 2, "
        "mason 1 concurrent files, 8 streams each"
    )


def test_a_run_says_how_much_goes_where() -> None:
    assert "3 GiB to kraken, 1 MiB to mason; a control epoch is 10 s" in started_line(RUNNING)


def _row(
    measured_bps: float = 2.51e7, asked_bps: float | None = None, failure: str = ""
) -> ServedRow:
    return ServedRow(
        destination="kraken",
        concurrency=3,
        measured_bps=measured_bps,
        asked_bps=asked_bps,
        failure=failure,
    )


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (_row(), "kraken 25.1 Mbit/s with 3"),
        (_row(asked_bps=3.16e7), "kraken 25.1 of 31.6 Mbit/s with 3"),
        (_row(asked_bps=3.16e9), "kraken 25.1 Mbit/s of 3.16 Gbit/s with 3"),
        (_row(asked_bps=2.51e7), "kraken 25.1 Mbit/s with 3"),
        (_row(0.0, 3.16e7, "nothing arrived"), "kraken nothing arrived with 3"),
    ],
    ids=["nothing asked", "asked", "another unit", "held", "failed"],
)
def test_an_epoch_says_what_was_measured_and_asked(row: ServedRow, words: str) -> None:
    seen = ev.SharesSeen(at_s=30.0, epoch=4, rows=[row])
    assert seen_line(seen) == f"  epoch 4: {words}"
    assert seen_line(seen, "train") == f"  step 4: {words}"


def test_all_destinations_are_in_one_line() -> None:
    rows = [msgspec.structs.replace(_row(), destination=f"lab:five:{name}") for name in "ab"]
    line = seen_line(ev.SharesSeen(at_s=30.0, epoch=4, rows=rows))
    assert line == "  epoch 4: a 25.1 Mbit/s with 3, b 25.1 Mbit/s with 3"


def test_a_change_says_why() -> None:
    event = ev.SharesChanged(
        at_s=30.0, epoch=4, old={"kraken": 2}, new={"kraken": 3}, reason="others are served now"
    )
    assert changed_line(event) == "  epoch 4: now kraken 3 (others are served now)"


def test_the_end_of_one() -> None:
    event = ev.DestinationEnded(
        at_s=30.0, destination="lab:five:kraken", complete=False, message="no way there"
    )
    assert destination_ended_line(event) == "  lab:five:kraken: no way there"
    served = ["lab:five:kraken", "lab:five:mason"]
    assert destination_ended_line(event, served) == "  kraken: no way there"


def test_asked_shares_stand_beside_those_that_were_had() -> None:
    rows = [
        ShareOutcome(destination="kraken", moved_bytes=2**30, rate_bps=3e8, asked_bps=1e8),
        ShareOutcome(destination="mason", moved_bytes=2**20, rate_bps=1e8, asked_bps=3e8),
    ]
    assert outcome_rows(rows) == [
        ["kraken", "100 Mbit/s", "300 Mbit/s", "25%", "75%"],
        ["mason", "300 Mbit/s", "100 Mbit/s", "75%", "25%"],
    ]


def test_what_got_nothing_has_no_share() -> None:
    row = ShareOutcome(destination="kraken", moved_bytes=0, rate_bps=0.0)
    assert outcome_rows([row])[0][-2:] == ["none", "none"]
