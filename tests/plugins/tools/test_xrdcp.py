import os
import subprocess
from pathlib import Path

import pytest

from advisor import registry
from advisor.domain.advice import Command
from advisor.domain.dataset import Dataset
from advisor.testing.samples import a_path
from advisor.testing.tools import a_command_request
from tests.xrootd_server import xrootd_server

PLUGIN = registry.tool("xrdcp")
LINE_S = 30.0
SMALL = Dataset(total_bytes=10**6, files=1000, largest="a", largest_bytes=10**3)


def the_line(**changes: object) -> Command:
    (command,) = PLUGIN.commands(a_command_request(**changes))
    return command


def tcp(streams: int) -> dict[str, dict[str, object]]:
    return {"tcp": {"streams": streams, "buffer_bytes": 0, "congestion": "cubic"}}


# --- what is written ---


def test_one_file_is_fetched_over_streams() -> None:
    command = the_line(source_path="/data/run 7.h5", destination_path="/store/run 7.h5")
    assert command.side == "destination"
    assert command.shell == ("xrdcp -S 7 'root://192.0.2.1:1094//data/run 7.h5' '/store/run 7.h5'")
    assert "xrootd -p 1094" in command.note


def test_one_stream_is_the_default() -> None:
    assert "-S" not in the_line(settings=tcp(1)).argv


def test_more_streams_than_it_takes_are_reported() -> None:
    command = the_line(settings=tcp(22))
    assert command.argv[command.argv.index("-S") + 1] == "15"
    assert "Measured with 22 streams; xrdcp takes 16 at most." in command.note
    assert "Measured with" not in the_line(settings=tcp(16)).note


def test_a_directory() -> None:
    command = the_line(source_path="/data/run42", destination_path="/store/run42", dataset=SMALL)
    assert command.shell == (
        "xrdcp -S 7 -r --parallel 8 root://192.0.2.1:1094//data/run42/ /store/"
    )


def test_an_ipv6_address() -> None:
    path = a_path(source_address="2001:db8::1")
    assert the_line(path=path).argv[-2] == "root://[2001:db8::1]:1094//SOURCE_PATH"


def test_a_name_that_xrootd_would_cut_is_reported() -> None:
    assert "question mark" in the_line(source_path="/d/a?b").note
    assert "question mark" not in the_line(source_path="/d/ab").note


# --- what the lines do ---


def fetch(folder: Path, **changes: object) -> None:
    """Runs the line against a server of this directory, at another port than the line has."""
    command = the_line(path=a_path(source_address="127.0.0.1"), **changes)
    with xrootd_server(folder / "data") as server:
        line = command.shell.replace(":1094/", f":{server.port}/")
        done = subprocess.run(["sh", "-c", line], check=False, capture_output=True, timeout=LINE_S)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["a b", "it's", 'q"x', "50%", "p%41", "h#1", "mésure"])
@pytest.mark.parametrize("streams", [1, 4])
def test_a_file_comes_to_the_name_that_was_said(tmp_path: Path, name: str, streams: int) -> None:
    content = os.urandom(2**20 + 17)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / name).write_bytes(content)
    target = tmp_path / f"new {name}"
    fetch(
        tmp_path,
        settings=tcp(streams),
        source_path=str(tmp_path / "data" / name),
        destination_path=str(target),
    )
    assert target.read_bytes() == content


def test_a_directory_comes_with_what_is_below(tmp_path: Path) -> None:
    source, target = tmp_path / "data" / "the tree", tmp_path / "new" / "the tree"
    target.parent.mkdir()
    (source / "sub dir").mkdir(parents=True)
    for number in range(12):
        (source / "sub dir" / f"f {number}").write_bytes(os.urandom(1000 + number))
    fetch(tmp_path, source_path=str(source), destination_path=str(target), dataset=SMALL)
    assert {p.relative_to(target): p.read_bytes() for p in target.rglob("*") if p.is_file()} == {
        p.relative_to(source): p.read_bytes() for p in source.rglob("*") if p.is_file()
    }
