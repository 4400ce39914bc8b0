"""bbcp is in no package: its lines are held, word by word, to what its help and source say."""

import pytest

from advisor import registry
from advisor.domain.advice import Command
from advisor.domain.dataset import Dataset
from advisor.testing.tools import a_command_request

PLUGIN = registry.tool("bbcp")
MANY = Dataset(total_bytes=10**9, files=5, largest="a", largest_bytes=10**8)


def the_line(**changes: object) -> Command:
    (command,) = PLUGIN.commands(a_command_request(**changes))
    return command


def tcp(streams: int, buffer_bytes: int) -> dict[str, dict[str, object]]:
    return {"tcp": {"streams": streams, "buffer_bytes": buffer_bytes, "congestion": "cubic"}}


def test_one_file_with_streams_and_window() -> None:
    command = the_line(source_path="/data/run 7.h5", destination_path="/store/run 7.h5")
    assert command.side == "source"
    assert command.shell == (
        "bbcp -P 2 -v -s 8 -w =4194304 '/data/run 7.h5' 'dtn.example.org:/store/run 7.h5'"
    )


def test_the_kernels_own_buffers_are_left_alone() -> None:
    assert "-w" not in the_line(settings=tcp(8, 0)).argv


@pytest.mark.parametrize(("streams", "written"), [(64, "64"), (100, "64")])
def test_no_more_streams_than_it_takes(streams: int, written: str) -> None:
    command = the_line(settings=tcp(streams, 2**20))
    assert command.argv[command.argv.index("-s") + 1] == written
    assert ("Measured with" in command.note) == (str(streams) != written)


@pytest.mark.parametrize(
    ("target", "written"),
    [("/store/run42", "/store"), ("/store/run42/", "/store"), ("/store/other", "/store/other")],
)
def test_a_directory_is_made_under_its_own_name(target: str, written: str) -> None:
    command = the_line(source_path="/data/run42/", destination_path=target, dataset=MANY)
    assert command.argv[-3:] == ["-r", "/data/run42", f"dtn.example.org:{written}"]
    assert "must exist" in command.note


def test_an_ipv6_address() -> None:
    command = the_line(destination_host="2001:db8::1")
    assert command.argv[-1] == "[2001:db8::1]:/DESTINATION_PATH"
