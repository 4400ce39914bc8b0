import asyncio
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from advisor import registry
from advisor.agent.ports import free_run
from advisor.domain.advice import Command
from advisor.domain.dataset import Dataset
from advisor.hosts.processes import running
from advisor.testing.samples import a_path
from advisor.testing.tools import a_command_request

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


def test_more_streams_than_it_takes_are_told() -> None:
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


def test_a_name_that_xrootd_would_cut_is_told() -> None:
    assert "question mark" in the_line(source_path="/d/a?b").note
    assert "question mark" not in the_line(source_path="/d/ab").note


# --- what the lines do ---


@pytest.fixture
def programs() -> None:
    for program, package in (("xrdcp", "xrootd-client"), ("xrootd", "xrootd-server")):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is absent: apt install {package}")


async def answers(port: int) -> None:
    for _ in range(200):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.05)
        else:
            writer.close()
            return
    raise AssertionError("the server does not answer")


def fetch(folder: Path, **changes: object) -> None:
    """Runs the line against a server of this directory, at another port than the line has."""
    command = the_line(path=a_path(source_address="127.0.0.1"), **changes)

    async def scenario(own_place: str) -> None:
        port = free_run(1, (0, 0), socket.AF_INET)
        configuration = folder / "xrootd.cf"
        configuration.write_text(f"all.adminpath {own_place}\nall.pidpath {own_place}\n")
        server = ["xrootd", "-p", str(port), "-l", str(folder / "xrootd.log")]
        server += ["-c", str(configuration), "-s", f"{own_place}/xrootd.pid"]
        # It does not run as root.
        account = ["-R", "nobody"] if os.geteuid() == 0 else []
        own = ["env", f"HOME={folder}"]
        async with running([*own, *server, *account, str(folder / "data")]):
            await answers(port)
            line = command.shell.replace(":1094/", f":{port}/")
            async with asyncio.timeout(LINE_S), running(["sh", "-c", line]) as child:
                await child.stdout.read()
                assert await child.wait() == 0, child.stderr.decode(errors="replace")

    # Its sockets and process id: their paths have to be short, and without these lines in the
    # configuration they lie in /tmp, where they stay.
    with tempfile.TemporaryDirectory(prefix="x", ignore_cleanup_errors=True) as own_place:
        Path(own_place).chmod(0o777)
        asyncio.run(scenario(own_place))


@pytest.fixture
def folder() -> Iterator[Path]:
    """With `data` in it, which the server's account may read.

    Not below pytest's own folder: that one is closed to others whenever a pytest starts.
    """
    with tempfile.TemporaryDirectory(prefix="advisor-xrdcp-") as name:
        folder = Path(name)
        (folder / "data").mkdir()
        folder.chmod(0o777)
        yield folder


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("name", ["a b", "it's", 'q"x', "50%", "p%41", "h#1", "mésure"])
@pytest.mark.parametrize("streams", [1, 4])
def test_a_file_comes_to_the_name_that_was_said(folder: Path, name: str, streams: int) -> None:
    content = os.urandom(2**20 + 17)
    (folder / "data" / name).write_bytes(content)
    target = folder / f"new {name}"
    fetch(
        folder,
        settings=tcp(streams),
        source_path=str(folder / "data" / name),
        destination_path=str(target),
    )
    assert target.read_bytes() == content


@pytest.mark.usefixtures("programs")
def test_a_directory_comes_with_what_is_below(folder: Path) -> None:
    source, target = folder / "data" / "the tree", folder / "new" / "the tree"
    target.parent.mkdir()
    (source / "sub dir").mkdir(parents=True)
    for number in range(12):
        (source / "sub dir" / f"f {number}").write_bytes(os.urandom(1000 + number))
    fetch(folder, source_path=str(source), destination_path=str(target), dataset=SMALL)
    assert {p.relative_to(target): p.read_bytes() for p in target.rglob("*") if p.is_file()} == {
        p.relative_to(source): p.read_bytes() for p in source.rglob("*") if p.is_file()
    }
