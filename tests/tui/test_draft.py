"""What was entered becomes the words of a command, and outlives the program."""

from pathlib import Path

import msgspec
import pytest

from advisor.domain.dataset import Dataset
from advisor.testing.samples import a_path
from advisor.tui.features.advising.draft import Draft, PathSeen, load_draft, parse_count, save_draft
from advisor.tui.features.transfer.move_draft import MoveDraft


def test_only_what_was_entered_is_said() -> None:
    draft = Draft(destination=" dtn02 ", bandwidth="10G", what="size", size="10TB")
    assert draft.advise_arguments() == ["--size=10TB", "--bandwidth=10G", "--", "dtn02"]


def test_no_text_becomes_an_option() -> None:
    draft = Draft(destination="--help", to="--store")
    words = draft.advise_arguments()
    assert words[-2:] == ["--", "--help"]
    assert "--to=--store" in words


def test_the_other_way_to_the_agent_stays_but_is_not_said() -> None:
    draft = Draft(agent="dtn:5199", secret_file="s", agent_command="x", destination="dtn")
    assert draft.reach_arguments() == ["--agent-command=x", "--", "dtn"]
    draft.way = "agent"
    assert draft.reach_arguments() == ["--agent=dtn:5199", "--secret-file=s", "--", "dtn"]


def test_an_agent_that_is_brought_along() -> None:
    draft = Draft(way="push", destination="dtn", agent_command="x", ports="50000-50100")
    assert draft.reach_arguments() == ["--ports=50000-50100", "--push", "--", "dtn"]


def test_without_an_agent_nothing_is_asked_of_one() -> None:
    draft = Draft(way="none", destination="dtn", agent_command="x", ports="1-2", what="data")
    draft.data, draft.to, draft.profiled, draft.tool, draft.keep = (
        "/d",
        "/t",
        "tool",
        "rclone",
        True,
    )
    assert not draft.has_agent
    assert draft.why_no_tool() == ""
    assert draft.advise_arguments() == [
        "--data=/d",
        "--to=/t",
        "--profile-tool=rclone",
        "--without-agent",
        "--",
        "dtn",
    ]


@pytest.mark.parametrize(
    "others", [{"profiled": "network"}, {"profiled": "tool", "tool": "globus-url-copy"}]
)
def test_without_an_agent_the_tool_must_look_after_its_files(others: dict[str, str]) -> None:
    draft = msgspec.convert(
        {"way": "none", "what": "data", "data": "/d", "to": "/t", **others}, Draft
    )
    able = "rclone or s5cmd or xrdcp"
    assert f"choose {able}, or another way in step Where" in draft.why_no_tool()


def test_several_networks_are_of_an_advice_about_the_network() -> None:
    draft = Draft(destination="dtn", interfaces=" eth1=eth1,eth2=eth2 ")
    assert draft.advise_arguments() == ["--interfaces=eth1=eth1,eth2=eth2", "--", "dtn"]
    assert draft.reach_arguments() == ["--", "dtn"]
    draft.profiled, draft.tool = "tool", "xdd"
    assert not any("interfaces" in word for word in draft.advise_arguments())


def test_a_path_is_written_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    draft = Draft(what="data", data="~/run 7", size="10TB")
    assert draft.advise_arguments() == [f"--data={tmp_path}/run 7"]


def test_files_of_one_size() -> None:
    draft = Draft(what="count", files="200 000", each_size="4MB")
    # 200,000 × 4,000,000 B; 2^21 ≤ 4,000,000 < 2^22
    assert draft.dataset() == Dataset(
        total_bytes=800_000_000_000, files=200_000, sizes=((21, 200_000, 800_000_000_000),)
    )
    assert draft.advise_arguments() == ["--size=800000000000"]
    draft.what = "unknown"
    assert draft.dataset() is None
    assert draft.advise_arguments() == []


@pytest.mark.parametrize("text", ["", "0", "-3", "many", "1e6", "²"])
def test_a_count_that_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="how many files"):
        parse_count(text)


def test_what_was_seen_of_another_path_is_not_of_this() -> None:
    draft = Draft(destination="dtn02")
    draft.seen = PathSeen(reach=draft.reach_arguments(), path=a_path())
    assert draft.path_seen
    draft.destination = "dtn03"
    assert draft.path_seen is None
    draft.destination = "dtn02"
    assert draft.path_seen


def test_it_is_kept_whole() -> None:
    draft = Draft(destination="dtn02", what="data", data="/d", scanned=Dataset(total_bytes=3))
    draft.seen = PathSeen(reach=draft.reach_arguments(), path=a_path())
    save_draft(draft)
    assert load_draft() == draft


def test_a_tool_is_said_with_what_is_asked_of_it() -> None:
    draft = Draft(what="data", data="/d", to="/there", profiled="tool", max_concurrency="8")
    draft.keep = draft.verify = True
    assert draft.advise_arguments() == [
        "--data=/d",
        "--to=/there",
        "--profile-tool=auto",
        "--max-concurrency=8",
        "--keep",
        "--verify",
    ]
    draft.tool = "xdd"
    assert "--profile-tool=xdd" in draft.advise_arguments()


def test_nothing_of_the_tool_is_said_of_the_network_alone_nor_the_other_way_round() -> None:
    draft = Draft(tool="xdd", keep=True, verify=True, max_concurrency="8", transports="tcp")
    draft.congestion = "bbr"
    assert draft.advise_arguments() == ["--transports=tcp", "--congestion=bbr"]
    draft.profiled = "tool"
    assert not {"--transports=tcp", "--congestion=bbr"} & set(draft.advise_arguments())


@pytest.mark.parametrize(
    ("draft", "said"),
    [
        (Draft(what="size", size="10TB", to="/there", profiled="tool"), "a directory or a file"),
        (Draft(what="data", to="/there", profiled="tool"), "a directory or a file"),
        (Draft(what="data", data="/d", profiled="tool"), "Goes to"),
        (Draft(what="data", data="/d", to="/there", profiled="tool"), ""),
        (Draft(what="size"), ""),
    ],
)
def test_a_tool_needs_files_and_a_place_for_them(draft: Draft, said: str) -> None:
    reason = draft.why_no_tool()
    assert said in reason
    assert bool(reason) == bool(said)


def test_the_options_of_the_method_are_arguments() -> None:
    draft = Draft(
        destination="dtn2",
        gain_ratio="0.9",
        impeded="5",
        iterations="40",
        constants="a=15, alpha=0.6",
        buffer_scale="log2",
        seed="7",
    )
    words = draft.advise_arguments()
    for word in (
        *("--gain-ratio=0.9", "--impeded=5", "--iterations=40", "--seed=7"),
        *("--constant=a=15", "--constant=alpha=0.6", "--buffer-scale=log2"),
    ):
        assert word in words
    of_a_tool = msgspec.structs.replace(
        draft, profiled="tool", tool="globus-url-copy", what="data", data="/d", to="/s"
    )
    assert not any("--buffer-scale" in word for word in of_a_tool.advise_arguments())


def test_a_home_of_nobody_stays_as_it_was_typed() -> None:
    typed = "~no-such-user/run7"
    assert Draft(what="data", data=typed).advise_arguments() == [f"--data={typed}"]
    assert MoveDraft(data=typed).data_path == typed


def test_a_name_that_is_not_utf8_is_not_kept() -> None:
    save_draft(Draft(destination="dtn02"))
    save_draft(Draft(destination="dtn02", data="/data/run\udcff"))
    assert load_draft() == Draft(destination="dtn02")
