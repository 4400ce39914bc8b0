"""`--profile-tool auto`: the first tool that is installed here."""

from pathlib import Path

import pytest

from advisor.cli.advise.options import DataOptions, ToolOptions
from advisor.cli.advise.request import with_installed_tool
from advisor.cli.completion import tools_to_profile
from advisor.cli.errors import UsageError
from advisor.tui.features.advising.draft import Draft


@pytest.fixture(autouse=True)
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of programs, empty."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def install(programs: Path, *names: str) -> None:
    for name in names:
        (programs / name).write_text("")
        (programs / name).chmod(0o755)


def chosen(data: Path) -> str | None:
    return with_installed_tool(ToolOptions(tool="auto"), DataOptions(data=data)).tool


def test_the_usual_tools_come_first(programs: Path, tmp_path: Path) -> None:
    install(programs, "rclone")
    assert chosen(tmp_path) == "rclone"
    install(programs, "globus-url-copy")
    assert chosen(tmp_path) == "globus-url-copy"


def test_what_moves_one_file_is_not_for_a_folder(programs: Path, tmp_path: Path) -> None:
    install(programs, "rclone", "xdd")
    (tmp_path / "file").touch()
    assert chosen(tmp_path / "file") == "xdd"
    assert chosen(tmp_path) == "rclone"


def test_without_one_it_is_said_how_to_get_one(tmp_path: Path) -> None:
    tools = "globus-url-copy, rclone, rsync, s5cmd, xrdcp"
    with pytest.raises(UsageError, match=f"auto: none of {tools} is"):
        chosen(tmp_path)


def test_a_named_tool_stays(tmp_path: Path) -> None:
    named = ToolOptions(tool="xdd")
    assert with_installed_tool(named, DataOptions(data=tmp_path)) is named


def test_the_screen_takes_the_same(programs: Path) -> None:
    install(programs, "rclone")
    draft = Draft(profiled="tool")
    assert draft.tool_name == "rclone"
    draft.tool = "xdd"
    assert draft.tool_name == "xdd"


def test_the_shell_completes_it() -> None:
    assert [name for name, _ in tools_to_profile("a")] == ["auto"]
