"""A plan as text."""

from advisor.domain import events as ev
from advisor.domain.advice import Command
from advisor.domain.evidence import SampleSeen
from advisor.domain.plan import ClassPlan, ClassProgress, TransferPlan
from advisor.domain.transfers import Levels
from advisor.report.plan import (
    changed_words,
    left_words,
    lines_text,
    plan_rows,
    progress_words,
    reasons_text,
)

TINY = ClassPlan(
    size="tiny",
    files=12345,
    total_bytes=10**9,
    levels=Levels(concurrency=4, parallelism=1, pipelining=8),
    alone=Levels(concurrency=7, parallelism=1, pipelining=8),
    expected_bps=1e9,
    sample=SampleSeen(levels=Levels(concurrency=2, parallelism=1), throughput_bps=5e8),
    reason="Stands on 96 past transfers.",
)
LARGE = ClassPlan(
    size="large",
    files=1,
    total_bytes=10**10,
    levels=Levels(concurrency=1, parallelism=8),
    alone=Levels(concurrency=1, parallelism=8),
    reason="a rule of thumb",
)
LINE = Command(
    tool="globus-url-copy", side="source", argv=["x"], shell="globus-url-copy …", note="2 files"
)
PLAN = TransferPlan(
    method="harp",
    order="together",
    classes=[TINY, LARGE],
    commands=[LINE, LINE],
    pay_off="With 10 GB it pays off.",
    notes=["A note."],
)


def test_a_class_is_a_row_with_both_levels() -> None:
    first, second = plan_rows(PLAN)
    assert first == ["tiny", "12 345", "954 MiB", "4 × 1", "7 × 1", "1 Gbit/s"]
    assert second[-1] == "not known"


def test_reasons_name_the_sample_and_fit_the_width() -> None:
    text = reasons_text(PLAN, 50)
    assert "tiny: sample 2 × 1: 500 Mbit/s." in text
    assert "With 10 GB it pays off." in text
    assert "A note." in text
    assert max(map(len, text.splitlines())) <= 50


def test_lines_are_whole_and_say_in_which_order() -> None:
    assert lines_text(PLAN).splitlines()[:3] == [
        "Run, all at once",
        "  # 2 files",
        "  globus-url-copy …",
    ]


def test_progress_leaves_out_what_is_there() -> None:
    classes = [
        ClassProgress(
            size=size,
            files=0,
            total_files=9,
            moved_bytes=moved,
            total_bytes=2**30,
            rate_bps=1e8,
            clients=2,
            parallelism=4,
        )
        for size, moved in (("tiny", 2**30), ("large", 2**29))
    ]
    assert progress_words(classes) == "large 512 MiB of 1 GiB (100 Mbit/s)"


def test_the_time_left_has_its_interval() -> None:
    assert left_words(None) == ""
    assert left_words((130.0, 120.0, 150.0)) == "2 min 10 s left (90 %: 2 min to 2 min 30 s)"


def test_a_class_that_changes_is_a_line() -> None:
    event = ev.PlanChanged(
        at_s=90.0,
        epoch=9,
        size="tiny",
        old=Levels(concurrency=4, parallelism=2),
        new=Levels(concurrency=8, parallelism=2),
        throughput_bps=1e8,
        reason="another load",
    )
    assert changed_words(event) == "epoch 9, tiny: 4 × 2 as if alone, now 8 × 2 (another load)"
