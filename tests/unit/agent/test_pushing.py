"""Which agents there are to send, and what the other side's words mean."""

import gzip
from pathlib import Path

import pytest

import advisor
from advisor.agent import pushing
from advisor.agent.peer_errors import PeerError


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    found = [tmp_path / "own", tmp_path / "package"]
    monkeypatch.setattr(pushing, "agent_folders", lambda: found)
    return found


def put(folder: Path, machine: str, content: bytes, version: str = advisor.__version__) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"advisor-agent-{version}-{machine}.gz"
    path.write_bytes(gzip.compress(content))
    return path


def test_without_any_the_remedy_is_named(folders: list[Path]) -> None:
    put(folders[0], "x86_64", b"of another version", "0.0.9")
    with pytest.raises(PeerError) as caught:
        pushing.agent_files()
    assert caught.value.problem.command == "make agent"
    assert str(folders[0]) in caught.value.problem.remedy


def test_the_own_folder_comes_first(folders: list[Path]) -> None:
    put(folders[1], "x86_64", b"shipped")
    put(folders[1], "aarch64", b"shipped")
    put(folders[0], "x86_64", b"own, longer")
    sizes = {one.machine: one.size_bytes for one in pushing.agent_files()}
    assert sizes == {"x86_64": len(b"own, longer"), "aarch64": len(b"shipped")}


def test_a_file_that_is_cut_off_is_refused(folders: list[Path]) -> None:
    path = put(folders[0], "x86_64", bytes(100_000))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(PeerError, match="cannot be read"):
        pushing.agent_files()


def test_the_script_assigns_nothing_but_known_letters() -> None:
    file = pushing.AgentFile("x86_64", b"sent", "0f" * 32, 9)
    head = pushing.script_for([file], (5, 6), keep=True).decode().splitlines()[:4]
    assert head[0] == f"agents=x86_64:{'0f' * 32}:9:4"
    assert head[2:] == ["keep=1", "arguments='5 6'"]
