"""Whose command lines advice has."""

import msgspec
import pytest

from advisor.advising.tool_lines import tool_lines
from advisor.domain.path import HostFacts, PathFacts
from advisor.testing.samples import a_path

USUAL = ["globus-url-copy", "xdd"]


def a_path_between(source: list[str] | None, destination: list[str] | None) -> PathFacts:
    path = a_path()
    return msgspec.structs.replace(
        path,
        source=msgspec.structs.replace(path.source, tools=source),
        destination=msgspec.structs.replace(path.destination, tools=destination),
    )


@pytest.mark.parametrize(
    ("source", "destination", "lines"),
    [
        (["xdd", "rclone", "globus-url-copy"], ["xdd"], USUAL),
        (["globus-url-copy", "rclone"], [], ["globus-url-copy"]),
        # xdd runs at both ends.
        (["globus-url-copy", "xdd"], [], ["globus-url-copy"]),
        (["xdd", "rclone"], ["rclone"], ["rclone"]),
        (["xdd"], None, ["xdd"]),
        # aria2c fetches: it is at the destination.
        ([], ["aria2c"], ["aria2c"]),
        (["aria2c"], [], USUAL),
        ([], [], USUAL),
        (None, None, USUAL),
    ],
)
def test_lines_are_for_what_is_installed_where_it_runs(
    source: list[str] | None, destination: list[str] | None, lines: list[str]
) -> None:
    assert tool_lines([], a_path_between(source, destination)).names == lines


def test_what_the_user_names_counts() -> None:
    assert tool_lines(["bbcp"], a_path_between(["rclone"], [])).names == ["bbcp"]
    assert not tool_lines(["bbcp"], a_path_between(["rclone"], [])).reason


def test_another_tool_than_the_usual_ones_is_explained() -> None:
    assert not tool_lines([], a_path_between(["globus-url-copy"], [])).reason
    other = tool_lines([], a_path_between(["rclone"], [])).reason
    assert other.startswith("the line is for rclone, which is installed; globus-url-copy and xdd")
    assert "--for-tool globus-url-copy,xdd" in other
    nothing = tool_lines([], a_path_between([], [])).reason
    assert "no transfer tool is installed" in nothing
    assert "advisor doctor" in nothing


def test_names_that_a_peer_tells_are_checked() -> None:
    facts = msgspec.to_builtins(a_path().destination)
    for tools in (["x" * 300], ["a; rm -rf /"], ["x"] * 65, "rclone", [1], ["\x1b[31m"]):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(facts | {"tools": tools}, HostFacts)
    strange = a_path_between(
        [], msgspec.convert(facts | {"tools": ["no-such-tool"]}, HostFacts).tools
    )
    assert tool_lines([], strange).names == USUAL
