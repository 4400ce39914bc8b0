"""xrdcp as a tool that is profiled, sending to a real XRootD server."""

import asyncio
import functools
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from advisor import registry
from advisor.api.server_files import ServerFilesTool
from advisor.api.tool import LookingTool, Piece, Place, ToolLimits, TransferOrder, TransferTool
from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Endpoint
from advisor.domain.measurement import FailureKind
from advisor.domain.space import Setting
from advisor.hosts.processes import output_of
from advisor.runtime.request import ConnectionOptions
from advisor.runtime.tool_lookups import informed
from advisor.testing.samples import a_path
from advisor.testing.tools import TransferToolContract, a_command_request
from advisor.traits import checked_server
from tests.benchmarks.disk.files import difference
from tests.xrootd_server import XrootdServer, xrootd_server

from .whole_files import assert_it_looks_after, files_named, find_that_fails, order_of, ran

PLUGIN = registry.transfer_tool("xrdcp")
assert isinstance(PLUGIN, LookingTool)
SETTING: Setting = {"concurrency": 3, "parallelism": 1}
THERE = Place(host="me@dtn", server_url="root://dtn:2094", path="/data/run")
ANSWER = {"version": "v5.5.3\n"}
FILES = Dataset(total_bytes=10**9, path="/d/run", files=100, largest="a", largest_bytes=10**8)
NAMES = ("a 'b' \"c\"", "*", "[x]", "%41,e=f:g&", "#h", "ümläut", "-r", " lead", "back\\slash", "@")


class TestContract(TransferToolContract):
    plugin = PLUGIN


class TestContractOfAServer(TransferToolContract):
    plugin = PLUGIN.informed(THERE, ANSWER)


an_order = functools.partial(order_of, SETTING)


def the_line(tool: TransferTool = PLUGIN, **changes: Any) -> Any:
    [command] = tool.commands(a_command_request(**changes))
    return command


def own_line(tool: TransferTool, setting: Setting, **changes: Any) -> Any:
    return the_line(tool, settings={"xrdcp": setting}, subject="xrdcp", **changes)


# --- the server ---


@pytest.mark.parametrize("url", ["root://h", "roots://h:1094", "root://[::1]:1"])
def test_a_server_that_may_be_named(url: str) -> None:
    assert checked_server(url, ["xrdcp"]) == url


@pytest.mark.parametrize(
    "url", ["root://", "root://-h", "root://u@h", "root://h/data", "root://h?a=b", "h:1094"]
)
def test_a_server_that_may_not_be_named(url: str) -> None:
    with pytest.raises(ValueError, match="root://HOST:PORT"):
        checked_server(url, ["xrdcp"])


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("[FATAL] Connection error\n", "root://dtn:2094: No XRootD server answers"),
        ("[FATAL] Auth failed: No protocols left to try", "does not let this user in"),
        ("sh: 1: xrdfs: not found", "not installed"),
        ("", "xrdcp ended"),
        ("once upon a time", "once upon"),
    ],
)
def test_what_it_cannot_do_is_said_before_it_starts(said: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        PLUGIN.informed(THERE, {"version": said})


# --- the lines ---


def test_without_a_name_the_server_is_that_of_the_host() -> None:
    piece = Piece(source="/d/a", target="/t/b", size_bytes=1)
    [step] = PLUGIN.steps(an_order(piece, destination_host="me@dtn"))
    assert step.argv[-2:] == ["/d/a", "root://dtn//t/b"]
    assert (step.server_port, step.as_login) == (1094, False)


def test_a_directory_is_sent_by_several_processes() -> None:
    command = own_line(
        PLUGIN.informed(THERE, ANSWER),
        SETTING,
        dataset=FILES,
        source_path="/d/run",
        destination_path="/data/other",
    )
    assert command.side == "source"
    assert command.argv[:2] == ["sh", "-c"]
    assert command.argv[3:] == ["other", "/d/run/", "root://dtn:2094//data/"]
    assert "-P 3" in command.argv[2]


def test_one_process_needs_no_script_where_the_name_stays() -> None:
    one = {"concurrency": 1, "parallelism": 1}
    places: dict[str, Any] = {"dataset": FILES, "source_path": "/d/run"}
    kept = own_line(PLUGIN, one, **places, destination_path="/data/run")
    assert kept.shell == "xrdcp -f -p -r /d/run/ root://dtn.example.org//data/"
    other = own_line(PLUGIN, one, **places, destination_path="/data/other")
    assert other.argv[0] == "sh"


def test_streams_are_sent_to_a_server_that_was_named() -> None:
    named = {"server_url": "root://dtn", "source_path": "/d/a", "destination_path": "/t/a"}
    command = the_line(**named)
    assert command.shell == "xrdcp -f -p /d/a root://dtn//t/a"
    assert "Measured with 8 streams; xrdcp sends a file over one connection." in command.note
    assert "question mark" in the_line(**{**named, "destination_path": "/t/a?b"}).note


def test_the_space() -> None:
    [parameter] = PLUGIN.space(a_path(), FILES, ToolLimits(max_concurrency=24)).parameters
    assert (parameter.name, parameter.lower, parameter.upper) == ("concurrency", 1, 16)


def test_what_cannot_be_sent() -> None:
    whole = Piece(source="/d/a", target="/t/a", size_bytes=1)
    with pytest.raises(ValueError, match="no ranges"):
        PLUGIN.steps(an_order(msgspec.structs.replace(whole, is_whole=False)))
    with pytest.raises(ValueError, match="question mark"):
        PLUGIN.steps(an_order(msgspec.structs.replace(whole, target="/t?x/a")))
    into_root = [Piece(source=f"/d/{name}", target=f"/{name}", size_bytes=1) for name in "ab"]
    with pytest.raises(ValueError, match="no root directory"):
        PLUGIN.steps(an_order(*into_root))
    assert "question mark" in PLUGIN.carries("a?b")


# --- what it prints ---


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("-rw-r--r-- a b 1 2026-01-01 00:00:00 /other/a", "in another folder"),
        ("-rw-r--r-- a b -1 2026-01-01 00:00:00 /t/a", "no list"),
        ("once upon a time", "no list"),
    ],
)
def test_a_list_of_something_else_is_refused(line: str, words: str) -> None:
    assert isinstance(PLUGIN, ServerFilesTool)
    good = (
        "drwxr-xr-x a b 4096 2026-01-01 00:00:00 /t/c\n"
        "-rw-r--r-- a b    3 2026-01-01 00:00:00 /t/c/ d /t/e\u2028f\n"
    )
    assert PLUGIN.sizes_in("/t", good) == {"c/ d /t/e\u2028f": 3}
    with pytest.raises(ValueError, match=words):
        PLUGIN.sizes_in("/t", good + line)


# --- with a real server ---


@pytest.fixture
def server(tmp_path: Path) -> Iterator[XrootdServer]:
    with xrootd_server(tmp_path / "served") as one:
        yield one


def known_tool(url: str) -> TransferTool:
    request = ConnectionOptions(destination=Endpoint("localhost"), server_url=url)
    return asyncio.run(informed(PLUGIN, request, "/t"))


def some_files(folder: Path, target: Path) -> list[Piece]:
    pieces = files_named(NAMES, folder, target)
    (folder / "empty").touch()
    large = folder / "large"
    large.write_bytes(os.urandom(12_000_000))
    return [
        *pieces,
        Piece(source=str(folder / "empty"), target=str(target / "empty"), size_bytes=0),
        Piece(source=str(large), target=str(target / "large"), size_bytes=12_000_000),
    ]


@pytest.mark.parametrize("processes", [1, 3, 64])
def test_files_arrive_under_their_names(
    server: XrootdServer, tmp_path: Path, processes: int
) -> None:
    tool = known_tool(server.url)
    pieces = some_files(tmp_path / "d", server.served / "t@ b")
    setting = {**SETTING, "concurrency": processes}
    order = an_order(*pieces, setting=setting, list_file=str(tmp_path / "a list"))
    status, output, errors = ran(tool, order)
    assert tool.trouble(status, output, errors) is None, errors
    assert not difference(tmp_path / "d", server.served / "t@ b")
    assert not list(tmp_path.glob("*.shares")), "no links are left"


def test_what_is_there_is_replaced(server: XrootdServer, tmp_path: Path) -> None:
    [piece, *_] = some_files(tmp_path / "d", server.served / "t")
    [one] = PLUGIN.steps(an_order(piece, server_url=server.url))
    assert subprocess.run(one.argv, check=False).returncode == 0
    Path(piece.source).write_bytes(b"another")
    assert subprocess.run(one.argv, check=False).returncode == 0
    assert Path(piece.target).read_bytes() == b"another"


@pytest.mark.parametrize("processes", [1, 3])
@pytest.mark.parametrize("name", ["run it's", "an@ther"])
def test_the_line_copies_a_folder(
    server: XrootdServer, tmp_path: Path, processes: int, name: str
) -> None:
    source, target = tmp_path / "run it's", server.served / "deep" / name
    (source / "below").mkdir(parents=True)
    for number in range(7):
        (source / "below" / f"f {number}").write_bytes(os.urandom(1000 * number))
    (source / "below").chmod(0o555)
    dataset = msgspec.structs.replace(FILES, files=7, path=str(source))
    command = own_line(
        known_tool(server.url),
        {**SETTING, "concurrency": processes},
        dataset=dataset,
        source_path=str(source),
        destination_path=str(target),
    )
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    done = subprocess.run(
        ["sh", "-c", command.shell],
        check=False,
        capture_output=True,
        env=os.environ | {"TMPDIR": str(temporary)},
    )
    assert done.returncode == 0, done.stderr
    assert not difference(source, target)
    assert not list(temporary.iterdir())


def test_a_folder_that_cannot_be_looked_into_copies_nothing(
    server: XrootdServer, tmp_path: Path
) -> None:
    """Not all but that folder, with status 0."""
    files_named(NAMES, tmp_path / "d", tmp_path / "there")
    command = own_line(
        known_tool(server.url),
        SETTING,
        dataset=FILES,
        source_path=str(tmp_path / "d"),
        destination_path=str(server.served / "there"),
    )
    environment = find_that_fails(tmp_path)
    done = subprocess.run(["sh", "-c", command.shell], check=False, env=environment)
    assert done.returncode != 0
    assert not (server.served / "there").exists()


def test_it_looks_after_its_files_there(server: XrootdServer, tmp_path: Path) -> None:
    tool = known_tool(server.url)
    assert isinstance(tool, ServerFilesTool)
    folder = server.served / f".advisor-{'0' * 32}"
    pieces = some_files(tmp_path / "d", folder / "named")
    assert ran(tool, an_order(*pieces, list_file=str(tmp_path / "list")))[0] == 0
    beside = server.served / f"{folder.name} theirs"
    assert_it_looks_after(tool, folder, pieces, beside)
    assert not folder.exists()
    with pytest.raises(ValueError, match="question mark"):
        tool.server_commands("/t?x")


LISTED = """\
-rw-r--r-- a b 1 2026-01-01 00:00:00 /t/ours
-rw-r--r-- a b 1 2026-01-01 00:00:00 /t/../theirs
-rw-r--r-- a b 1 2026-01-01 00:00:00 /home/theirs
drwxr-xr-x a b 1 2026-01-01 00:00:00 /t/below
drwxr-xr-x a b 1 2026-01-01 00:00:00 /t/below/that
drwxr-xr-x a b 1 2026-01-01 00:00:00 /
"""


def test_a_server_that_lists_what_was_not_asked_for_has_nothing_else_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, asked = tmp_path / "xrdfs", tmp_path / "asked"
    program.write_text(
        f'#!/bin/sh\nshift\ncase $1 in ls) cat {tmp_path}/listed;; *) echo "$*" >>{asked};; esac\n'
    )
    program.chmod(0o755)
    (tmp_path / "listed").write_text(LISTED)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    tool = PLUGIN.informed(THERE, ANSWER)
    assert isinstance(tool, ServerFilesTool)
    assert asyncio.run(output_of(tool.server_commands("/t").remove, 30.0))[0] == 0
    assert asked.read_text().splitlines() == [
        *("rm /t/ours", "rmdir /t/below/that", "rmdir /t/below", "rmdir /t")
    ]


def test_troubles(server: XrootdServer, tmp_path: Path) -> None:
    tool = known_tool(server.url)
    [piece, *_] = some_files(tmp_path / "d", server.served / "t")

    def kind_of(tool: TransferTool = tool, **changes: Any) -> FailureKind:
        order: TransferOrder = an_order(msgspec.structs.replace(piece, **changes))
        trouble = tool.trouble(*ran(tool, order))
        assert trouble is not None
        return trouble.kind

    assert kind_of(source=f"{piece.source} gone") is FailureKind.FILES_CHANGED
    assert kind_of(target="/etc/of another") is FailureKind.NO_ACCESS
    (server.served / "file").write_text("a file where a folder is needed")
    assert kind_of(target=f"{server.served}/file/x") is FailureKind.NO_ACCESS
    with pytest.raises(ValueError, match="No XRootD server answers"):
        known_tool("root://127.0.0.1:9")
    with pytest.raises(ValueError, match="no TLS for this client"):
        known_tool(server.url.replace("root:", "roots:"))


def test_a_server_that_wants_a_login(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    make = ["xrdsssadmin", "-k", "one", "-u", "anybody", "-g", "usrgroup", "add", str(keys)]
    subprocess.run(make, input=b"y\n", capture_output=True, check=True)
    lines = f"xrootd.seclib libXrdSec.so\nsec.protocol sss -s {keys}\nsec.protbind * only sss\n"
    with (
        xrootd_server(tmp_path / "served", lines) as server,
        pytest.raises(ValueError, match="does not let this user in"),
    ):
        known_tool(server.url)


def test_a_full_disk(tmp_path: Path) -> None:
    served = tmp_path / "served"
    served.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(served)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("needs root, to mount a small file system")
    try:
        pieces = some_files(tmp_path / "d", served / "t")
        with xrootd_server(served) as server:
            tool = known_tool(server.url)
            trouble = tool.trouble(*ran(tool, an_order(pieces[-1])))
    finally:
        subprocess.run(["umount", "-l", str(served)], check=True)
    assert trouble is not None
    assert trouble.kind is FailureKind.DISK_FULL
