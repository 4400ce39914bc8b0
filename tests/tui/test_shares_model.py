"""What several destinations get, rebuilt from events; and how it is put into words and bars."""

import pytest

from advisor.domain import events as ev
from advisor.domain.shares import Asked
from advisor.transfer.shared.parsing import parse_asked
from advisor.tui.features.shares.rows import (
    RateRow,
    planned,
    row_words,
    shares_top_bps,
    with_model,
)
from advisor.tui.features.shares.shares_model import SharesModel
from advisor.tui.features.shares.texts import (
    note_lines,
    ordered_lines,
    run_lines,
    shares_end_lines,
    train_line,
)
from advisor.tui.features.shares.widgets.share_bar import (
    lower_cells,
    share_legend,
    upper_cells,
)
from advisor.tui.features.shares.widgets.share_log import share_log_lines
from advisor.tui.features.shares.widgets.share_row import numbers, who

from . import shared

ONES = dict.fromkeys(shared.NAMES, Asked(share=1))


def rows_of(model: SharesModel, *, is_running: bool = True) -> dict[str, RateRow]:
    rows = planned(shared.NAMES, ONES, shared.plan())
    return {row.destination: row for row in with_model(rows, model, is_running=is_running)}


def test_the_story_is_rebuilt_from_events() -> None:
    model = SharesModel(shared.under_way())
    assert model.epoch == 3
    assert model.epoch_began_s == 63.0
    assert {name: one.concurrency for name, one in model.destinations.items()} == (
        shared.RUN | {"kraken": 7}
    )
    assert not model.is_over
    assert model.at_s == 75.0
    model.apply(shared.ended())
    assert model.is_over


def test_the_interval_is_that_of_the_plan_as_long_as_it_is_followed() -> None:
    model = SharesModel([ev.SharesPlanned(at_s=1, plan=shared.plan()), shared.started()])
    assert model.destinations["mason"].interval_bps
    model.apply(shared.seen(1, {}))
    assert model.destinations["mason"].interval_bps
    model.apply(shared.changed(1, shared.RUN | {"kraken": 7}))
    assert model.destinations["mason"].interval_bps is None


def test_before_the_first_epoch_is_over_what_arrives_now_is_what_was_got() -> None:
    model = SharesModel([ev.SharesPlanned(at_s=1, plan=shared.plan()), shared.started()])
    assert rows_of(model)["kraken"].got_bps is None
    model.apply(shared.moving(20.0, off=0.5))
    assert rows_of(model)["kraken"].got_bps == model.destinations["kraken"].now_bps
    model.apply(shared.seen(1, {"kraken": 0.8}))
    latest = model.destinations["kraken"].seen
    assert latest
    assert rows_of(model)["kraken"].got_bps == latest.measured_bps


def test_what_is_asked_is_a_part_of_what_all_got() -> None:
    model = SharesModel(shared.under_way()[:4])
    rows = rows_of(model)
    got = [row.got_bps or 0.0 for row in rows.values()]
    assert rows["kraken"].asked_bps == pytest.approx(sum(got) / 5)
    asked = ONES | {"kraken": Asked(share=4), "mason": parse_asked("@2")}
    changed = planned(shared.NAMES, asked, shared.plan())
    after = {row.destination: row for row in with_model(changed, model, is_running=True)}
    shared_bps = sum(got) - (after["mason"].got_bps or 0.0)
    assert after["kraken"].asked_bps == pytest.approx(4 / 7 * shared_bps)
    assert after["mason"].asked_bps is None
    assert numbers(after["mason"], is_wide=False)[0] == "held at 2"


def test_nothing_is_expected_any_more_of_one_that_came_to_its_end() -> None:
    row = rows_of(SharesModel(shared.under_way()))["yellowstone"]
    assert (row.asked_bps, row.expected_bps, row.concurrency) == (None, None, 0)
    assert row.got_bps
    assert row.now_bps is None
    assert who(row, row.destination, 22) == "[x] yellowstone ✓"
    broken = SharesModel([*shared.under_way(), shared.destination_ended("mason", complete=False)])
    assert who(rows_of(broken)["mason"], "mason", 22) == "[x] mason ✗"


def test_after_the_end_the_means_stand_beside_the_plan() -> None:
    model = SharesModel([*shared.under_way(), shared.ended()])
    row = rows_of(model, is_running=False)["kraken"]
    plan_row = shared.plan().rows[2]
    assert row.got_bps == pytest.approx(plan_row.expected_bps * 0.97)
    assert row.expected_bps == plan_row.expected_bps
    assert row.now_bps is None


def test_one_that_is_left_out_has_neither_plan_nor_measurement() -> None:
    some = {name: one for name, one in ONES.items() if name != "mason"}
    rows = planned(shared.NAMES, some, shared.plan())
    seen = with_model(rows, SharesModel(shared.under_way()), is_running=True)
    mason = next(row for row in seen if row.destination == "mason")
    assert mason == RateRow(destination="mason", is_in=False, remark="left out")
    assert who(mason, "mason", 22) == "[ ] mason"


def test_what_is_logged() -> None:
    model = SharesModel(shared.under_way())
    model.apply(shared.seen(3, {"mason": 0.0}))
    model.apply(ev.Notice(at_s=0.0, message="mason: a path [was] lost"))
    lines = [line.strip() for line in share_log_lines(model)]
    assert lines[0] == (
        "33 s  epoch 1: kraken 7 files instead of 5 (what was measured is off what was asked)"
    )
    assert lines[1] == "1 min 10 s  yellowstone: all 40 files are there"
    assert "nothing arrived" in lines[2]
    assert lines[3] == "1 min 33 s  mason: a path [was] lost"


def test_how_far_it_is_in_words() -> None:
    assert run_lines(SharesModel(), 10, is_wide=True) == [
        "… counting the files, and connecting to the destinations"
    ]
    lines = run_lines(SharesModel(shared.under_way()), 10, is_wide=True)
    assert lines[0] == "██░░░░░░░░  21%, 39.7 GiB of 186 GiB there"
    assert lines[1].endswith(
        "epoch 3, 12 s of 30 s; 10 min 20 s left (90 %: 9 min 40 s to 11 min 40 s)"
    )
    assert run_lines(SharesModel(shared.under_way()), 10, is_wide=False)[1].endswith("20 s left")


def test_the_end_in_words() -> None:
    assert shares_end_lines(SharesModel(shared.under_way())) == []
    assert shares_end_lines(SharesModel([shared.ended()])) == [
        "All is there at 5 of 5 destinations."
    ]
    assert shares_end_lines(SharesModel([shared.ended(complete=False)]))[1] == "r moves the rest."
    gave_up = ev.GaveUp(at_s=0, message="none of the destinations can be served", exit_code=3)
    assert shares_end_lines(SharesModel([gave_up]))[1] == "Nothing is being moved. r tries again."


def test_what_is_asked_anew_is_said_until_it_counts() -> None:
    model = SharesModel([shared.started(), shared.seen(1, {})])
    ordered = {"kraken": ("6", 2)}
    assert ordered_lines(ordered, model) == ["… kraken: 6 is asked from epoch 3 on"]
    model.apply(shared.seen(2, {}))
    assert ordered_lines(ordered, model) == []


def test_what_cannot_be_had_is_a_line_each() -> None:
    row = RateRow(destination="mason", asked=Asked(share=1), missed="share 1 is 9 bit/s here, but")
    assert note_lines([row], None, "a share is a part of something") == [
        "✗ A share is a part of something.",
        "✗ mason: share 1 is 9 bit/s here, but.",
    ]


def test_all_of_a_destination_in_words() -> None:
    row = planned(["kraken"], {"kraken": Asked(share=1)}, shared.plan())[0]
    assert row_words(row).startswith("kraken: asked share 1, which is 914 Mbit/s")
    assert row_words(row).endswith("5 files at a time; 61 measurements, off by 5% on average.")
    rate = planned(["kraken"], {"kraken": Asked(rate_bps=4e8)}, shared.plan())[0]
    assert row_words(rate).startswith("kraken: asked 400 Mbit/s; expected")
    live = rows_of(SharesModel(shared.under_way()))["kraken"]
    assert " in epoch 2, now " in row_words(live)
    assert row_words(live).endswith("% of 37.3 GiB there.")


def test_names_that_are_too_long_keep_what_tells_them_apart() -> None:
    row = RateRow(destination="mason", missed="no")
    assert who(row, "dtn-with-a-very-long-name.example.org", 22) == "[x] dtn-with-a-very… ✗"
    assert who(row, "lab:five-destinations:kraken", 22) == "[x] …inations:kraken ✗"
    assert who(row, "dtn-of-sixteen..", 22) == "[x] dtn-of-sixteen.. ✗"


def test_the_command_that_learns_names_known_hosts() -> None:
    assert train_line([]) == "advisor share train HOST1 HOST2 --to FOLDER"
    assert train_line(["dtn2", "dtn3"]) == "advisor share train dtn2 dtn3 --to FOLDER"


def test_parts_of_a_bar_are_distinguished_without_colour() -> None:
    row = RateRow(
        destination="kraken",
        asked_bps=6e8,
        got_bps=4e8,
        expected_bps=5e8,
        interval_bps=(4e8, 7e8),
    )
    upper, lower = upper_cells(row, 11, 1e9), lower_cells(row, 11, 1e9)
    assert "".join(c for c, _ in upper) == "█████┄◆    "
    assert "".join(c for c, _ in lower) == "░░░░├●─┤   "
    looks: dict[str, set[str]] = {}
    for character, part in (*upper, *lower):
        looks.setdefault(part, set()).add(character)
    asked, expected, got = looks["asked"], looks["expected"], looks["got"]
    assert not (asked & expected | asked & got | expected & got)
    # Nothing is drawn that the legend does not show.
    shown = {part: set(cells) for part, cells, _ in share_legend()}
    assert all(looks[part] <= shown[part] for part in shown)


def test_a_mark_on_the_bar_stays_seen() -> None:
    row = RateRow(destination="kraken", asked_bps=4e8, got_bps=9e8)
    cells = "".join(c for c, _ in upper_cells(row, 11, 1e9))
    assert cells == "████◆█████ "


def test_the_axis_holds_what_was_got_and_a_slip_of_the_hand_does_not_stretch_it() -> None:
    usual = RateRow(destination="kraken", asked_bps=6e8, got_bps=9e8)
    assert shares_top_bps([usual], 0.0) == 1e9
    assert shares_top_bps([usual], 1.2e9) == 1.5e9
    slip = RateRow(destination="mason", asked_bps=4e12)
    end_bps = shares_top_bps([usual, slip], 0.0)
    assert end_bps == 1.5e9
    assert upper_cells(slip, 11, end_bps)[-1][0] == "»"
