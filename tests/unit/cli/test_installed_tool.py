"""`--profile-tool auto`: the first tool that is installed here and can be used."""

import socket
from pathlib import Path

import pytest

from advisor.cli.advise.options import DataOptions, ToolOptions
from advisor.cli.advise.request import with_found_tool
from advisor.cli.completion import tools_to_profile
from advisor.cli.errors import UsageError
from advisor.domain.endpoints import Endpoint
from advisor.registry import PluginMissing
from advisor.traits import tools_to_profile as installed
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


def chosen(data: Path, server: str | None = None, host: str = "127.0.0.1") -> str | None:
    options = DataOptions(data=data, to="/there", server=server)
    where = {"destination": Endpoint(host)}
    return with_found_tool(ToolOptions(tool="auto"), options, where).tool


def test_the_usual_tools_come_first(programs: Path) -> None:
    install(programs, "rclone")
    assert installed(several=True) == ["rclone"]
    install(programs, "rsync", "globus-url-copy")
    assert installed(several=True) == ["globus-url-copy", "rclone", "rsync"]


def test_what_moves_one_file_is_not_for_a_folder(programs: Path) -> None:
    install(programs, "rclone", "xdd")
    assert installed(several=False) == ["xdd", "rclone"]
    assert installed(several=True) == ["rclone"]


def test_those_that_take_the_server(programs: Path) -> None:
    install(programs, "globus-url-copy", "rclone", "rsync", "xrdcp")
    assert installed(several=True, server="sftp://me@dtn2:2222") == ["rclone"]
    assert installed(several=True, server="root://dtn2") == ["xrdcp"]


def test_one_that_fetches_is_not_needed_here(
    programs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = "http://dtn1:8080/run"
    assert installed(several=True, server=server) == ["aria2c"]
    assert chosen(tmp_path, server) == "aria2c"
    assert capsys.readouterr().err == "advisor: profiles aria2c, which fetches from here\n"
    install(programs, "aria2c", "s5cmd")
    assert installed(several=True, server=server) == ["s5cmd", "aria2c"]
    assert installed(several=True) == ["s5cmd"]


def test_those_that_need_no_agent(programs: Path) -> None:
    install(programs, "globus-url-copy", "rclone", "rsync", "xrdcp")
    assert installed(several=True, without_agent=True) == ["rclone", "xrdcp"]


def test_a_server_that_needs_an_agent(programs: Path) -> None:
    install(programs, "globus-url-copy", "rclone")
    with pytest.raises(PluginMissing, match="profiled with gsiftp://dtn2 without an agent"):
        installed(several=True, server="gsiftp://dtn2", without_agent=True)


def test_the_first_whose_server_can_be_used(
    programs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install(programs, "globus-url-copy", "xdd")
    (tmp_path / "file").touch()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        # One tool alone takes this server, and the session says what is wrong.
        assert chosen(tmp_path / "file", f"ftp://127.0.0.1:{port}") == "globus-url-copy"
    assert chosen(tmp_path / "file", host="localhost.invalid") == "xdd"
    said = capsys.readouterr().err.splitlines()
    assert said[-1] == "advisor: profiles xdd, which is installed here"
    assert "globus-url-copy is installed here, but its server cannot be reached at" in said[-2]
    assert "localhost.invalid, port 2811" in said[-2]


def test_where_none_can_be_used_it_is_said_why_of_each(programs: Path, tmp_path: Path) -> None:
    install(programs, "globus-url-copy", "rclone")
    with pytest.raises(UsageError) as error:
        chosen(tmp_path, host="localhost.invalid")
    said = str(error.value)
    assert said.startswith("no tool that is installed here can be used for localhost.invalid. ")
    assert "globus-url-copy: its server cannot be reached at localhost.invalid, port 2811" in said
    assert "; rclone: ssh" in said


def test_in_a_lab_nothing_is_asked_before_it_is_entered(programs: Path, tmp_path: Path) -> None:
    install(programs, "globus-url-copy", "rclone")
    assert chosen(tmp_path, host="lab:wan") == "globus-url-copy"


def test_without_one_it_is_said_how_to_get_one(tmp_path: Path) -> None:
    tools = "globus-url-copy, rclone, rsync, s5cmd, xrdcp"
    with pytest.raises(UsageError, match=f"auto: none of {tools} is"):
        chosen(tmp_path)


def test_a_named_tool_stays(tmp_path: Path) -> None:
    named = ToolOptions(tool="xdd")
    where = {"destination": Endpoint("127.0.0.1")}
    assert with_found_tool(named, DataOptions(data=tmp_path), where) is named


def test_the_screen_takes_the_same(programs: Path) -> None:
    install(programs, "rclone")
    draft = Draft(profiled="tool")
    assert draft.tool_name == "rclone"
    draft.tool = "xdd"
    assert draft.tool_name == "xdd"


def test_the_shell_completes_it() -> None:
    assert [name for name, _ in tools_to_profile("a")] == ["aria2c", "auto"]
