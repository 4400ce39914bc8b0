"""What is asked of destinations: typed, by keys, by the mouse; and the commands that come of it."""

import shlex
from pathlib import Path
from typing import cast

import pytest

from advisor.cli.share.plan import plan as plan_command
from advisor.domain.shares import Asked
from advisor.models.shares.forecast import Forecast
from advisor.transfer.shared.parsing import parse_asked
from advisor.tui.features.shares.adjusting import LARGE_STEP, dragged, one_step, typed
from advisor.tui.features.shares.board import Board
from advisor.tui.features.shares.draft import SharesDraft, load_shares_draft, save_shares_draft
from advisor.tui.features.shares.forecasts import Learned

from . import shared


@pytest.mark.parametrize("text", ["4", "0.25", "400Mbit", "1.25Gbit", "9.6kbit", "x1.5", "@3"])
def test_what_is_typed_is_typed_the_same_again(text: str) -> None:
    assert typed(parse_asked(text)) == text


@pytest.mark.parametrize(
    ("text", "by", "then"),
    [
        ("4", 1, "4.1"),
        ("4", -1, "3.9"),
        ("4", LARGE_STEP, "4.5"),
        ("10", -1, "9.9"),
        ("9.9", 1, "10"),
        ("95", LARGE_STEP, "100"),
        ("400Mbit", 1, "410Mbit"),
        ("1Gbit", -1, "990Mbit"),
        ("x1.5", -1, "x1.4"),
        ("@3", 1, "@4"),
        ("@3", -LARGE_STEP, "@1"),
        ("@20", 1, "@20"),
        ("0.01", -1, "0.01"),
        ("9900", LARGE_STEP, "9900"),
    ],
)
def test_a_step_changes_the_second_digit_and_stays_in_bounds(text: str, by: int, then: str) -> None:
    assert typed(one_step(parse_asked(text), by)) == then


@pytest.mark.parametrize("text", ["0.37", "4", "72", "360Mbit", "x2.2"])
def test_a_step_there_and_back_changes_nothing(text: str) -> None:
    asked = parse_asked(text)
    for by in (1, LARGE_STEP):
        assert one_step(one_step(asked, by), -by) == asked


EXPECTED = {"kraken": 300e6, "mason": 100e6, "gordon": 600e6}


def drag(asked: dict[str, Asked], name: str, rate_bps: float) -> Asked:
    return dragged(asked, name, rate_bps, EXPECTED, {name: 100e6}, lambda level: level * 1e8)


def test_a_share_is_dragged_to_where_it_comes_to_that_part_of_all() -> None:
    asked = {"kraken": Asked(share=3), "mason": Asked(share=1), "gordon": Asked(rate_bps=6e8)}
    # Half of the 400 Mbit/s that both shares get: as much as the other one's.
    assert drag(asked, "kraken", 200e6) == Asked(share=1)
    assert drag(asked, "kraken", 300e6) == Asked(share=3)
    # More than there is would be a share without end.
    assert drag(asked, "kraken", 900e6) == drag(asked, "kraken", 500e6)
    assert drag(asked, "kraken", 0.0) == Asked(share=0.01)


def test_what_else_is_asked_is_dragged_as_what_it_is() -> None:
    assert drag({"mason": Asked(rate_bps=1e6)}, "mason", 123e6) == Asked(rate_bps=120e6)
    assert drag({"mason": Asked(factor=2.0)}, "mason", 150e6) == Asked(factor=3.0)
    assert drag({"mason": Asked(held=2)}, "mason", 520e6) == Asked(held=5)


def test_an_only_share_stays_what_it_is() -> None:
    asked = {"kraken": Asked(share=3), "gordon": Asked(rate_bps=6e8)}
    assert drag(asked, "kraken", 100e6) == Asked(share=3)


def sharing() -> SharesDraft:
    asked = {"kraken": "4", "mason": " 400 Mbit", "gordon": "x1.5"}
    return SharesDraft(asked=asked, left_out=["gordon"], data="/data/run 7", to="/scratch/%h")


def test_the_line_to_copy_has_those_that_take_part() -> None:
    line = sharing().plan_line(["kraken", "mason", "gordon"])
    assert line == "advisor share plan kraken=4 'mason=400 Mbit'"
    by_another = sharing().plan_line(["kraken", "gordon"], "rclone")
    assert by_another == "advisor share plan --tool=rclone kraken=4"
    assert sharing().plan_line(["kraken"], "globus-url-copy") == "advisor share plan kraken=4"


@pytest.mark.parametrize("more", [{}, {"epoch": "10s", "restart": True}])
def test_the_command_takes_all_words(tmp_path: Path, more: dict[str, object]) -> None:
    entered = sharing()
    for name, value in more.items():
        setattr(entered, name, value)
    names = ["kraken", "mason", "gordon"]
    words = entered.run_arguments(["--store", str(tmp_path)], names, "rclone")
    assert words[:2] == ["share", "plan"]
    parsed = plan_command.make_context("plan", words[2:], resilient_parsing=False).params
    assert [(one.name, one.asked) for one in parsed["wanted"]] == [
        ("kraken", Asked(share=4)),
        ("mason", Asked(rate_bps=4e8)),
    ]
    assert (list(parsed["data"]), list(parsed["to"])) == (["/data/run 7"], ["/scratch/%h"])
    assert parsed["tool"] == "rclone"
    assert parsed["run"]
    assert parsed["as_json"]
    assert parsed["orders"]
    assert parsed["restart"] == bool(more)
    assert parsed["epoch"] == (10.0 if more else 90.0)


def test_the_line_to_copy_is_one_that_the_command_takes() -> None:
    words = shlex.split(sharing().plan_line(["kraken", "mason"]))[3:]
    assert plan_command.make_context("plan", words).command is plan_command


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"asked": {"kraken": "much", "mason": "1"}}, "kraken: write a share as in 4"),
        ({"left_out": ["kraken", "mason"]}, "space includes one"),
        ({"asked": {"kraken": "1", "mason": "1", "lab:a:b": "1"}}, "no source in common"),
    ],
)
def test_what_cannot_be_planned_has_a_sentence(changes: dict[str, object], reason: str) -> None:
    entered = SharesDraft(**{"asked": {"kraken": "1", "mason": "1"}} | changes)  # type: ignore[arg-type]  # any of them
    assert reason in entered.why_not(list(entered.asked))


def test_hosts_of_one_lab_go_together_and_this_host_with_all() -> None:
    for names in (["lab:a:b", "lab:a:c"], ["lab:a:b", "localhost"], ["kraken", "localhost"]):
        entered = SharesDraft()
        entered.add_new(names)
        assert entered.why_not(names) == ""
        assert entered.taken_in(names) == names


def test_those_without_a_source_in_common_are_left_out_at_first() -> None:
    entered = SharesDraft()
    entered.add_new(["kraken", "lab:a:b", "mason"])
    assert entered.taken_in(["kraken", "lab:a:b", "mason"]) == ["kraken", "mason"]


@pytest.mark.parametrize(
    ("changes", "reason"), [({"data": " "}, "'What'"), ({"to": ""}, "'Goes to'")]
)
def test_what_is_missing_for_a_run_has_a_sentence(changes: dict[str, str], reason: str) -> None:
    entered = SharesDraft(**{"data": "/d", "to": "/t"} | changes)  # type: ignore[arg-type]  # any of them
    assert reason in (entered.why_no_data() or entered.why_no_folder())


def test_it_is_kept_for_the_next_start() -> None:
    assert load_shares_draft() == SharesDraft()
    save_shares_draft(sharing())
    assert load_shares_draft() == sharing()


def known(*names: str) -> Learned:
    """Nothing but that they can be planned with."""
    return shared.learned(dict.fromkeys(names, cast(Forecast, None)))


def test_a_wrong_text_that_was_kept_is_no_end_of_it() -> None:
    board = Board(SharesDraft(asked={"kraken": "nonsense"}))
    board.take_up(known("kraken"))
    assert board.asked == {"kraken": Asked(share=1)}
    assert board.sharing.why_not(["kraken"]) == ""


def test_while_a_text_is_wrong_what_was_asked_before_stands() -> None:
    board = Board(SharesDraft())
    board.take_up(known("kraken", "mason"))
    board.type("kraken", "4")
    board.type("kraken", "4x")
    board.type("kraken", "4xy")
    assert board.asked["kraken"] == Asked(factor=4)
    assert "kraken: write a share" in board.sharing.why_not(board.names)
