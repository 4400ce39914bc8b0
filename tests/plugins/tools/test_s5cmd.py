"""s5cmd: its lines, and as a tool that is profiled, against a real S3 server."""

import asyncio
import functools
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from advisor import registry
from advisor.api.object_store import store_folder
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
from tests.s3_server import S3Server, s3_server, with_s5cmd

from .whole_files import (
    assert_it_looks_after,
    assert_they_arrived,
    files_named,
    order_of,
    ran,
    replace_by_another,
)

PLUGIN = registry.transfer_tool("s5cmd")
assert isinstance(PLUGIN, LookingTool)
SETTING: Setting = {"concurrency": 8, "parallelism": 4, "chunk_bytes": 5 * 2**20}
STORE = Place(host="dtn", server_url="https://dtn:9000/bucket/run", path="/srv/s3/bucket/run")
ANSWER = {"bucket": '{"bucket":"s3://bucket"}\n'}
FILES = Dataset(total_bytes=10**9, path="/d", files=100, largest="a", largest_bytes=10**8)


class TestContract(TransferToolContract):
    plugin = PLUGIN


class TestContractOfAStore(TransferToolContract):
    plugin = PLUGIN.informed(msgspec.structs.replace(STORE, path="/bucket/run"), ANSWER)


an_order = functools.partial(order_of, SETTING)


def the_line(tool: TransferTool = PLUGIN, **changes: Any) -> Any:
    [command] = tool.commands(a_command_request(**changes))
    return command


# --- the server ---


@pytest.mark.parametrize(
    "url", ["s3://bucket", "s3://bucket/a/b/", "http://h:9000/bucket/x", "https://[::1]:1/bucket"]
)
def test_a_store_that_may_be_named(url: str) -> None:
    assert checked_server(url, ["s5cmd"]) == url.rstrip("/")


@pytest.mark.parametrize(
    "url",
    ["s3://", "s3://-b", "https://h", "https://u:p@h/bucket", "s3://bucket/a*", "s3://b?x", "h:/b"],
)
def test_a_store_that_may_not_be_named(url: str) -> None:
    with pytest.raises(ValueError, match="s3://BUCKET/PREFIX"):
        checked_server(url, ["s5cmd"])


def test_nothing_outside_the_store_is_written() -> None:
    known = PLUGIN.informed(STORE, ANSWER)
    piece = Piece(source="/d/a", target="/srv/s3/bucket/.advisor-1/named/a", size_bytes=1)
    [step] = known.steps(an_order(piece))
    assert (step.list_text or "").split()[-1] == "s3://bucket/.advisor-1/named/a"
    assert (step.server_port, step.as_login) == (9000, False)
    with pytest.raises(ValueError, match="which the store serves"):
        known.steps(an_order(msgspec.structs.replace(piece, target="/etc/a")))


@pytest.mark.parametrize(
    ("path", "place"),
    [("/t/..data/a", "bucket/run/..data/a"), ("/t/...", "bucket/run/..."), ("/t", "bucket/run")],
)
def test_a_name_that_begins_with_two_dots_is_in_the_store(path: str, place: str) -> None:
    assert store_folder("bucket/run", "/t").key(path) == place


@pytest.mark.parametrize("path", ["/", "/..data", "/t/..", "/t/../x", "/t/..data/../../x"])
def test_what_is_above_the_store_is_outside(path: str) -> None:
    with pytest.raises(ValueError, match="which the store serves"):
        store_folder("bucket/run", "/t").key(path)


@pytest.mark.parametrize(
    ("place", "said", "words"),
    [
        (Place(host="dtn"), "", "name it with --server s3://BUCKET"),
        (STORE, "", "s5cmd ended"),
        (STORE, '{"error":"NotFound: Not Found status code: 404"}', "no such bucket"),
        (STORE, '{"error":"Forbidden: Forbidden status code: 403"}', "does not allow"),
        (STORE, '{"error":"dial tcp 127.0.0.1:9: connect: connection refused"}', "No store"),
        (STORE, "sh: 1: s5cmd: not found", "not found"),
    ],
)
def test_what_it_cannot_do_is_said_before_it_starts(place: Place, said: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        PLUGIN.informed(place, {"bucket": said})


# --- the lines ---


def test_a_directory() -> None:
    known = PLUGIN.informed(STORE, ANSWER)
    command = the_line(
        known,
        settings={"s5cmd": SETTING},
        subject="s5cmd",
        dataset=FILES,
        source_path="/d",
        destination_path="/srv/s3/bucket/run",
        server_url=STORE.server_url,
    )
    assert command.shell == (
        "s5cmd --numworkers 8 --endpoint-url https://dtn:9000 cp --concurrency 4 --part-size 5 "
        "--no-follow-symlinks /d/ s3://bucket/run/"
    )
    assert "BUCKET" not in command.note


def test_without_a_store_the_line_has_a_placeholder() -> None:
    command = the_line(source_path="/d/a[1]", destination_path="/run/a")
    assert command.argv[-3:] == ["--raw", "/d/a[1]", "s3://BUCKET/run/a"]
    assert "name the store with --server" in command.note


def test_the_default_is_the_line_without_options() -> None:
    [default] = PLUGIN.baselines(a_path(), FILES)
    piece = Piece(source="/d/a", target="/b/a", size_bytes=1)
    [step] = PLUGIN.steps(an_order(piece, setting=default.setting))
    assert "--numworkers" not in step.argv
    assert step.list_text == "cp --raw /d/a s3://BUCKET/b/a\n"
    assert default.setting["concurrency"] == 100, "as many as there are files, of 256"


def test_the_space() -> None:
    space = PLUGIN.space(a_path(), FILES, ToolLimits(max_concurrency=24))
    assert [(one.name, one.lower, one.upper) for one in space.parameters] == [
        ("concurrency", 1, 16),
        ("parallelism", 1, 8),
        ("chunk_bytes", 5 * 2**20, 80 * 2**20),
    ]


# --- what it prints ---


def test_complete_files_count() -> None:
    reader = PLUGIN.reader()
    line = {"operation": "cp", "success": True, "object": {"type": "file", "size": 30}}
    reader.feed(json.dumps(line))
    progress = reader.feed(json.dumps({**line, "object": {"type": "file"}}))
    assert progress is not None
    assert (progress.moved_bytes, progress.files_begun) == (30, 2)


@pytest.mark.parametrize(
    "line",
    [
        *("[]", "{", "{" * 9999, '{"success":true}', '{"success":1,"object":{"size":1}}'),
        *('{"success":true,"object":{"size":-1}}', '{"success":true,"object":{"size":"1"}}'),
        '{"success":true,"object":{"size":true}}',
    ],
)
def test_other_lines_are_ignored(line: str) -> None:
    assert PLUGIN.reader().feed(line) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"key":"s3://bucket/other/a","size":1}', "in another folder"),
        ('{"key":"s3://bucket/t/a","size":-1}', "no list"),
        ("[" * 9999, "no list"),
        ("once upon a time", "no list"),
    ],
)
def test_a_list_of_something_else_is_refused(text: str, words: str) -> None:
    known = PLUGIN.informed(STORE, ANSWER)
    assert isinstance(known, ServerFilesTool)
    good = '{"key":"s3://bucket/t/a b","size":3}\n{"key":"s3://bucket/t/c/d"}'
    assert known.sizes_in("/srv/s3/bucket/t", good) == {"a b": 3, "c/d": 0}
    with pytest.raises(ValueError, match=words):
        known.sizes_in("/srv/s3/bucket/t", text)


# --- with a real server ---


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    monkeypatch.setenv("PATH", f"{with_s5cmd(tmp_path)}:{os.environ['PATH']}")
    with s3_server(tmp_path / "s3") as one:
        for name, value in one.credentials.items():
            monkeypatch.setenv(name, value)
        yield one


def known_tool(store: S3Server, bucket: str = "bucket") -> TransferTool:
    url = f"{store.url}/{bucket}/t"
    request = ConnectionOptions(destination=Endpoint("localhost"), server_url=url)
    return asyncio.run(informed(PLUGIN, request, str(store.served / bucket / "t")))


def some_files(folder: Path, target: Path) -> list[Piece]:
    names = ["a 'b' \"c\"", "*", "[x]?", "%41,e=f:g", "#h", "ümläut", "a\tb", "a\u200db"]
    pieces = files_named(names, folder, target)
    large = folder / "large"
    large.write_bytes(os.urandom(12_000_000))
    (folder / "it's below" / "empty").touch()
    return [
        *pieces,
        Piece(source=str(large), target=str(target / "large"), size_bytes=12_000_000),
        Piece(
            source=str(folder / "it's below" / "empty"),
            target=str(target / "it's below" / "empty"),
            size_bytes=0,
        ),
    ]


@pytest.mark.parametrize("is_proven", [False, True])
def test_files_arrive_under_their_names(store: S3Server, tmp_path: Path, is_proven: bool) -> None:
    tool = known_tool(store)
    pieces = some_files(tmp_path / "d", store.served / "bucket" / "t")
    if is_proven:
        replace_by_another(pieces[0])
    order = an_order(*pieces, list_file=str(tmp_path / "list"), is_proven=is_proven)
    status, output, errors = ran(tool, order)
    assert tool.trouble(status, output, errors) is None, errors
    assert_they_arrived(tool, pieces, output)


def test_the_line_copies_a_folder_without_its_links(store: S3Server, tmp_path: Path) -> None:
    source = tmp_path / "run[1]*"
    (source / ".hidden").mkdir(parents=True)
    (source / ".hidden" / "f?").write_text("x")
    (source / "link").symlink_to("/etc")
    target = store.served / "bucket" / "t"
    command = the_line(
        known_tool(store),
        settings={"s5cmd": SETTING},
        subject="s5cmd",
        dataset=msgspec.structs.replace(FILES, path=str(source)),
        source_path=str(source),
        destination_path=str(target),
        server_url=f"{store.url}/bucket/t",
    )
    assert subprocess.run(["sh", "-c", command.shell], check=False).returncode == 0
    arrived = {str(one.relative_to(target)) for one in target.rglob("*") if one.is_file()}
    assert arrived == {".hidden/f?"}


def test_it_looks_after_its_files_there(store: S3Server, tmp_path: Path) -> None:
    tool = known_tool(store)
    assert isinstance(tool, ServerFilesTool)
    folder = store.served / "bucket" / f".advisor-{'0' * 32}"
    pieces = some_files(tmp_path / "d", folder / "named")
    assert ran(tool, an_order(*pieces, list_file=str(tmp_path / "list")))[0] == 0
    beside = store.served / "bucket" / "theirs"
    assert_it_looks_after(tool, folder, pieces, beside)
    with pytest.raises(ValueError, match="characters of a pattern"):
        tool.server_commands(str(store.served / "bucket" / "a*"))


def test_a_removal_that_fails_is_no_absent_folder(
    store: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are status 1 of s5cmd."""
    tool = known_tool(store)
    assert isinstance(tool, ServerFilesTool)
    commands = tool.server_commands(str(store.served / "bucket" / '"error":"no object found"'))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    for argv in (commands.remove, commands.sizes):
        status, _ = asyncio.run(output_of(argv, 30.0))
        assert status not in (0, commands.absent_status)


def test_troubles(store: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = known_tool(store)
    [piece, *_] = some_files(tmp_path / "d", store.served / "bucket" / "t")
    order = an_order(piece, list_file=str(tmp_path / "list"))

    def kind_of(order: TransferOrder) -> FailureKind:
        trouble = tool.trouble(*ran(tool, order))
        assert trouble is not None
        return trouble.kind

    with pytest.raises(ValueError, match="no such bucket"):
        known_tool(store, "nobucket")
    gone = msgspec.structs.replace(piece, source=f"{piece.source} gone")
    assert kind_of(msgspec.structs.replace(order, pieces=(gone,))) is FailureKind.FILES_CHANGED
    with monkeypatch.context() as patched:
        patched.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
        assert kind_of(order) is FailureKind.NO_ACCESS
        with pytest.raises(ValueError, match="does not allow"):
            known_tool(store)
    with monkeypatch.context() as patched:
        patched.delenv("AWS_ACCESS_KEY_ID")
        patched.setenv("HOME", str(tmp_path / "none"))
        with pytest.raises(ValueError, match="credentials"):
            known_tool(store)
    large = Piece(source=str(tmp_path / "d" / "large"), target=piece.target, size_bytes=1)
    (store.served / "bucket" / "t").write_text("a file where a folder is needed")
    assert kind_of(msgspec.structs.replace(order, pieces=(large,))) is FailureKind.INCOMPLETE


@pytest.mark.parametrize("said", ["SlowDown: Please reduce", "x status code: 503, id", "429"])
def test_a_store_that_is_asked_too_much(said: str) -> None:
    errors = json.dumps({"error": said if "429" not in said else "status code: 429"})
    assert "fewer requests" in PLUGIN.refusal("", errors)  # type: ignore[attr-defined]  # of a LimitedTool
    trouble = PLUGIN.trouble(1, "", errors)
    assert trouble is not None
    assert trouble.kind is FailureKind.RESET
