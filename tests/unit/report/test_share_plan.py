"""A plan for several destinations as text."""

import msgspec

from advisor.domain.advice import Command
from advisor.domain.shares import Asked, SharePlan, ShareRow
from advisor.report.share_plan import COLUMNS, headline, lines_text, plan_rows, remarks_text


def _line(host: str, note: str = "Put the real paths.") -> Command:
    return Command(
        tool="globus-url-copy",
        side="source",
        argv=["globus-url-copy"],
        shell=f"globus-url-copy -cc 3 file:///SOURCE_PATH ftp://{host}:2811/" + "long/" * 20,
        note=note,
    )


KRAKEN = ShareRow(
    destination="lab:five:kraken",
    asked=Asked(share=4),
    asked_bps=2e8,
    concurrency=3,
    expected_bps=1.5e8,
    interval_bps=(1.2e8, 1.9e8),
    samples=30,
    model_error=0.118,
    missed="share 4 is 200 Mbit/s here, but beside the others at most 150 Mbit/s can be expected",
)
MASON = ShareRow(
    destination="lab:five:mason",
    asked=Asked(held=2),
    asked_bps=9e8,
    concurrency=2,
    expected_bps=9e8,
    interval_bps=(8e8, 1.1e9),
    samples=12,
    model_error=0.07,
)
PLAN = SharePlan(
    source="dtn01",
    parallelism=8,
    model="log with EL1",
    estimate="RTEC",
    rows=[KRAKEN, MASON],
    commands=[_line("kraken"), _line("mason")],
    notes=["All together never got more than 1.10 Gbit/s so far."],
)


def test_the_headline_sums_up() -> None:
    assert headline(PLAN) == (
        "Shares of dtn01: 1.05 Gbit/s together with 5 concurrent files, 8 streams each"
    )


def test_a_destination_is_a_row() -> None:
    assert plan_rows(PLAN) == [
        ["kraken", "share 4", "200 Mbit/s", "3", "150 Mbit/s", "120 to 190 Mbit/s"],
        ["mason", "held at 2", "900 Mbit/s", "2", "900 Mbit/s", "800 Mbit/s to 1.10 Gbit/s"],
    ]
    assert all(len(row) == len(COLUMNS) for row in plan_rows(PLAN))


def test_remarks_say_what_cannot_be_had_and_how_good_the_models_are() -> None:
    text = remarks_text(PLAN, 70)
    assert max(map(len, text.splitlines())) <= 70
    missed, notes, models = text.split("\n\n")
    assert missed.startswith("Cannot be met\n  - kraken: share 4 is 200 Mbit/s here")
    assert "mason" not in missed
    assert notes.startswith("Notes\n  - All together")
    assert "log with EL1, the present load by RTEC" in models
    assert "kraken 12% (30 measurements), mason 7%" in " ".join(models.split())


def test_what_is_as_asked_leaves_no_empty_sections() -> None:
    text = remarks_text(msgspec.structs.replace(PLAN, rows=[MASON], notes=[]), 80)
    assert text.startswith("Models\n")
    assert "\n\n" not in text


def test_lines_are_whole_and_what_they_share_is_said_once() -> None:
    text = lines_text(PLAN, 60)
    title, note, *lines = text.splitlines()
    assert title == "Run, all at once"
    assert note == "  # Put the real paths."
    assert lines == [f"  {one.shell}" for one in PLAN.commands]
    other = msgspec.structs.replace(PLAN, commands=[_line("a"), _line("b", "Another.")])
    assert "  # Another." in lines_text(other, 60).splitlines()


def test_a_long_note_is_broken_within_its_comment() -> None:
    plan = msgspec.structs.replace(PLAN, commands=[_line("a", "word " * 40)])
    title, *lines = lines_text(plan, 60).splitlines()
    assert title == "Run"
    notes = [line for line in lines if "globus-url-copy" not in line]
    assert len(notes) > 2
    assert all(line.startswith("  # word") and len(line) <= 60 for line in notes)


def test_without_lines_there_is_nothing_to_run() -> None:
    assert lines_text(msgspec.structs.replace(PLAN, commands=[]), 60) == ""
