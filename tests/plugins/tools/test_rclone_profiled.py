"""rclone as a tool that is profiled: its lookups and space, its steps run with a real sshd."""

import asyncio
import contextlib
import functools
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from advisor import registry
from advisor.api.tool import LookingTool, Piece, Place, ToolLimits, TransferOrder
from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Endpoint
from advisor.domain.measurement import FailureKind
from advisor.domain.space import Setting
from advisor.runtime.request import ConnectionOptions
from advisor.runtime.tool_lookups import informed
from advisor.testing.samples import a_path
from advisor.testing.tools import TransferToolContract, a_command_request
from advisor.traits import checked_server
from tests.narrow import Narrow
from tests.s3_server import S3Server, s3_server, with_newer_rclone
from tests.ssh_server import SshServer, needs_sshd, ssh_server

from .gridftp_lines import require
from .whole_files import (
    assert_they_arrived,
    assert_what_links_point_to_arrived,
    files_named,
    linked,
    logged_in,
    order_of,
    ran,
    replace_by_another,
)

PLUGIN = registry.transfer_tool("rclone")
assert isinstance(PLUGIN, LookingTool)
SETTING: Setting = {"concurrency": 8, "parallelism": 1, "outstanding": 64}
PLACE = Place(host="dtn", path="/t")
STORE = Place(host="dtn", server_url="mine:bucket/run", path="/srv/s3/bucket/run")
IN_STORE: Setting = {"concurrency": 4, "parallelism": 4, "chunk_bytes": 5 * 2**20}
FILES = Dataset(total_bytes=10**9, path="/d", files=100, largest="a", largest_bytes=10**8)

CONFIG = "host dtn\nuser me\nhostname dtn.example.org\nport 2222\n"
LOGIN = """OpenSSH_9.2p1 Debian-2, OpenSSL 3.0.19\r
debug1: Server host key: ssh-ed25519 SHA256:DJ6JC0rU\r
debug1: Found key in /home/me/.ssh/known_hosts:7\r
debug1: Server accepts key: /home/me/.ssh/a key,1 ED25519 SHA256:yr0oM5 explicit\r
debug1: Exit status 0\r
"""
FLAGS = (
    "      --transfers int   Number\n  -I, --ignore-times   Do not\n      --inplace   Download\n"
)


class TestContract(TransferToolContract):
    plugin = PLUGIN


class TestContractOfAStore(TransferToolContract):
    plugin = PLUGIN.informed(
        msgspec.structs.replace(STORE, server_url="mine:bucket", path="/"),
        {"remotes": "mine: s3\n"},
    )


class TestContractWhenInformed(TransferToolContract):
    plugin = PLUGIN.informed(PLACE, {"config": CONFIG, "login": LOGIN, "flags": FLAGS})


an_order = functools.partial(order_of, SETTING)


# --- what is looked up ---


def test_the_login_of_ssh_is_what_rclone_is_told() -> None:
    known = PLUGIN.informed(PLACE, {"config": CONFIG, "login": LOGIN, "flags": FLAGS})
    [command] = known.commands(a_command_request(settings={"rclone": SETTING}, subject="rclone"))
    assert command.argv[-1].startswith(
        ':sftp,host=dtn.example.org,user=me,port=2222,key_file="/home/me/.ssh/a key,1",'
        "known_hosts_file=/home/me/.ssh/known_hosts:/"
    )
    assert "host_key_algorithms" not in command.argv[-1], "this version has no such option"


def test_a_newer_version_asks_for_the_host_key_that_is_known() -> None:
    flags = FLAGS + "      --sftp-host-key-algorithms SpaceSepList   Space\n"
    known = PLUGIN.informed(PLACE, {"config": CONFIG, "login": LOGIN, "flags": flags})
    [command] = known.commands(a_command_request(settings={"rclone": SETTING}, subject="rclone"))
    assert "host_key_algorithms=ssh-ed25519" in command.argv[-1]


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({}, "ssh cannot log in"),
        ({"config": CONFIG, "login": "me@dtn: Permission denied (publickey).\r\n"}, "Permission"),
        ({"config": CONFIG, "login": LOGIN.replace("Found key in", "No key in")}, "known_hosts"),
        ({"config": CONFIG + "proxyjump gate\n", "login": LOGIN}, "through another host"),
    ],
)
def test_what_rclone_cannot_do_is_said_before_it_starts(found: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        PLUGIN.informed(PLACE, found)


def test_a_key_of_the_agent_is_not_named_as_a_file() -> None:
    login = LOGIN.replace(" explicit", " agent")
    known = PLUGIN.informed(PLACE, {"config": CONFIG, "login": login})
    [command] = known.commands(a_command_request(settings={"rclone": SETTING}, subject="rclone"))
    assert "key_file" not in command.argv[-1]


@pytest.mark.parametrize("url", ["sftp://dtn", "sftp://me@dtn:2222/", "sftp://[::1]:22"])
def test_a_server_that_may_be_named(url: str) -> None:
    assert checked_server(url, ["rclone"]) == url.rstrip("/")


@pytest.mark.parametrize(
    "url", ["sftp://-oProxyCommand=x", "sftp://-u@h", "sftp://h/path", "ftp://h", "sftp://h:a"]
)
def test_a_server_that_may_not_be_named(url: str) -> None:
    with pytest.raises(ValueError, match="sftp://USER@HOST:PORT"):
        checked_server(url, ["rclone"])


def test_a_store_is_a_remote_of_the_user() -> None:
    known = PLUGIN.informed(STORE, {"remotes": "other: sftp\nmine:  s3\n"})
    piece = Piece(source="/d/a", target="/srv/s3/bucket/.advisor-1/named/a", size_bytes=1)
    [step] = known.steps(an_order(piece, setting=IN_STORE))
    assert step.argv[-1] == "mine:bucket/.advisor-1/named"
    assert not step.as_login
    outside = Piece(source="/d/a", target="/etc/a", size_bytes=1)
    with pytest.raises(ValueError, match="which the store serves"):
        known.steps(an_order(outside, setting=IN_STORE))


@pytest.mark.parametrize(
    ("remotes", "words"), [("", "has no remote mine"), ("mine: sftp\n", "no S3 store")]
)
def test_a_remote_that_is_none_is_said_before_it_starts(remotes: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        PLUGIN.informed(STORE, {"remotes": remotes})


@pytest.mark.parametrize("text", ["mine:bucket", "mine:bucket/a/b/", "my remote:bucket"])
def test_a_store_that_may_be_named(text: str) -> None:
    assert checked_server(text, ["rclone"]) == text.rstrip("/")


# --- the space ---


def test_this_version_has_one_connection_for_each_file() -> None:
    space = PLUGIN.space(a_path(), FILES, ToolLimits(max_concurrency=24))
    assert [one.name for one in space.parameters] == ["concurrency", "outstanding"]
    assert space.parameters[0].upper == 16
    assert space.fixed == {"parallelism": 1}


@pytest.mark.parametrize(
    ("software", "searched"),
    [
        ("OpenSSH_9.2p1 Debian-2+deb12u3", False),
        ("OpenSSH_10.0", False),
        ("Go", False),
        ("rclone/v1.75.2", False),
        ("OpenSSH_9.6p1-hpn18.4.1", True),
        ("OpenSSH_8.1_hpn14v20", True),
        ("ProFTPD mod_sftp", True),
        ("Golf", True),
    ],
)
def test_more_requests_are_searched_where_the_window_may_be_wider(
    software: str, searched: bool
) -> None:
    said = f"debug1: Remote protocol version 2.0, remote software version {software}\r\n"
    known = PLUGIN.informed(PLACE, {"config": CONFIG, "login": said + LOGIN, "flags": FLAGS})
    space = known.space(a_path(), FILES, ToolLimits())
    assert ("outstanding" in space.names) == searched
    [baseline] = known.baselines(a_path(), FILES)
    assert ("outstanding" in baseline.setting) == searched


def test_a_version_that_writes_in_parts_has_them_searched() -> None:
    flags = FLAGS + "      --sftp-disable-multithread-upload   Disable\n"
    known = PLUGIN.informed(PLACE, {"config": CONFIG, "login": LOGIN, "flags": flags})
    assert "parallelism" in {
        one.name for one in known.space(a_path(), FILES, ToolLimits()).parameters
    }


# --- the steps ---


def _argv(order: TransferOrder) -> list[str]:
    [step] = PLUGIN.steps(order)
    return step.argv


def test_a_list_has_names_below_one_folder() -> None:
    pieces = [
        Piece(source=f"/d/{name}", target=f"/t/x/{name}", size_bytes=1) for name in ("a/b", "-c")
    ]
    [step] = PLUGIN.steps(an_order(*pieces))
    assert step.list_text == "a/b\n-c\n"
    assert step.argv[-2] == "/d"
    assert step.argv[-1].endswith(":/t/x")
    assert step.as_login


def test_files_that_would_change_their_names_are_refused() -> None:
    pieces = [Piece(source=f"/d/{n}", target=f"/t/{n}x", size_bytes=1) for n in ("a", "b")]
    with pytest.raises(ValueError, match="under their own names"):
        PLUGIN.steps(an_order(*pieces))


def test_ranges_are_refused() -> None:
    piece = Piece(source="/d/a", target="/t/a", size_bytes=1, offset_bytes=1, is_whole=False)
    with pytest.raises(ValueError, match="whole files"):
        PLUGIN.steps(an_order(piece))


def test_what_is_proven_elsewhere_always_replaces_what_is_there() -> None:
    """A file of the same size and time may have any content."""
    piece = Piece(source="/d/a", target="/t/a", size_bytes=1)
    assert "--no-check-dest" in _argv(an_order(piece, is_proven=True))
    assert "--ignore-checksum" not in _argv(an_order(piece))


# --- the log ---


def test_bytes_that_rclone_has_only_read_do_not_count() -> None:
    reader = PLUGIN.reader()
    under_way = [{"name": "a", "bytes": 30}, {"name": "b", "bytes": 5}]
    stats = {"bytes": 100, "transfers": 2, "transferring": under_way}
    progress = reader.feed(json.dumps({"level": "warning", "stats": stats}))
    assert progress is not None
    assert (progress.moved_bytes, progress.files_begun) == (65, 4)


@pytest.mark.parametrize(
    "line", ["[]", "{", '{"stats": []}', '{"stats": {"bytes": "x"}}', "{" * 9999]
)
def test_a_log_that_is_none_is_ignored(line: str) -> None:
    progress = PLUGIN.reader().feed(line)
    assert progress is None or progress.moved_bytes == 0


# --- with a real server ---


@pytest.fixture(params=["installed", "newer"])
def version(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The rclone of the system, and the one of PyPI."""
    which: str = request.param
    if which == "newer":
        programs = with_newer_rclone(tmp_path)
        monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return which


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SshServer]:
    require("rclone", "ssh")
    with ssh_server(tmp_path / "ssh") as one:
        yield one


known_tool = functools.partial(logged_in, PLUGIN, "sftp")


def some_files(folder: Path, target: Path, number: int = 12) -> list[Piece]:
    names = ["a 'b' \"c\"", "%d,e=f:g", "#h", "ümläut", *map(str, range(number - 4))]
    return files_named(names, folder, target)


@needs_sshd
@pytest.mark.usefixtures("version")
@pytest.mark.parametrize("is_proven", [False, True])
def test_files_arrive_under_their_names(
    server: SshServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_proven: bool
) -> None:
    tool = known_tool(server, tmp_path, monkeypatch)
    pieces = some_files(tmp_path / "d", tmp_path / "t")
    if is_proven:
        replace_by_another(pieces[0])
    order = an_order(*pieces, list_file=str(tmp_path / "list"), is_proven=is_proven)
    status, output, errors = ran(tool, order)
    assert tool.trouble(status, output, errors) is None
    assert_they_arrived(tool, pieces, output)


@needs_sshd
@pytest.mark.usefixtures("version")
@pytest.mark.parametrize("is_proven", [False, True])
def test_what_links_point_to_is_moved_where_they_are_followed(
    server: SshServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_proven: bool
) -> None:
    tool = known_tool(server, tmp_path, monkeypatch)
    pieces = linked(tmp_path / "d", tmp_path / "t")
    # Also alone: a link to a file, a folder that is a link, and a file of another name.
    for some in (pieces, pieces[1:2], pieces[2:4], pieces[4:]):
        order = an_order(
            *some, list_file=str(tmp_path / "list"), is_proven=is_proven, follows_links=True
        )
        status, output, errors = ran(tool, order)
        assert tool.trouble(status, output, errors) is None, errors
        assert_what_links_point_to_arrived(some, tmp_path / "t")
        shutil.rmtree(tmp_path / "t")
    renamed = msgspec.structs.replace(pieces[1], target=str(tmp_path / "t" / "other name"))
    assert ran(tool, an_order(renamed, is_proven=is_proven, follows_links=True))[0] == 0
    assert_what_links_point_to_arrived([renamed], tmp_path / "t")


@needs_sshd
@pytest.mark.usefixtures("version")
@pytest.mark.parametrize("is_proven", [False, True])
def test_nothing_that_has_become_a_link_is_moved_where_they_are_kept(
    server: SshServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_proven: bool
) -> None:
    tool = known_tool(server, tmp_path, monkeypatch)
    pieces = linked(tmp_path / "d", tmp_path / "t")[:2]
    ran(tool, an_order(*pieces, list_file=str(tmp_path / "list"), is_proven=is_proven))
    found = [path for path in (tmp_path / "t").rglob("*") if path.is_file()]
    assert [path for path in found if not path.is_symlink()] == [tmp_path / "t" / "plain"]


@needs_sshd
@pytest.mark.usefixtures("version")
def test_a_server_at_an_ipv6_address_is_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require("rclone", "ssh")
    if not Path("/proc/net/if_inet6").exists():
        pytest.skip("this kernel has no IPv6")
    with ssh_server(tmp_path / "ssh", address="::1") as server:
        tool = known_tool(server, tmp_path, monkeypatch)
        pieces = some_files(tmp_path / "d", tmp_path / "t")
        status, output, errors = ran(tool, an_order(*pieces, list_file=str(tmp_path / "list")))
    assert tool.trouble(status, output, errors) is None, output
    assert_they_arrived(tool, pieces, output)


@needs_sshd
def test_one_file_may_change_its_name(
    server: SshServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = known_tool(server, tmp_path, monkeypatch)
    piece = msgspec.structs.replace(
        some_files(tmp_path / "d", tmp_path / "t")[0], target=str(tmp_path / "t" / "other")
    )
    status, output, errors = ran(tool, an_order(piece))
    assert tool.trouble(status, output, errors) is None
    assert Path(piece.target).read_bytes() == Path(piece.source).read_bytes()


@needs_sshd
def test_troubles(server: SshServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = known_tool(server, tmp_path, monkeypatch)
    [piece, *_] = some_files(tmp_path / "d", tmp_path / "t")

    def kind_of(order: TransferOrder) -> tuple[FailureKind, str]:
        trouble = tool.trouble(*ran(tool, order))
        assert trouble is not None
        return trouble.kind, trouble.message

    for target, words in (("/dev/null/x", "is a file"), ("/proc/x/y", '"/proc/x"')):
        kind, message = kind_of(an_order(msgspec.structs.replace(piece, target=target)))
        assert kind is FailureKind.NO_ACCESS
        assert words in message
    gone = msgspec.structs.replace(piece, source=f"{piece.source} gone")
    assert kind_of(an_order(gone))[0] is FailureKind.FILES_CHANGED
    server.known_hosts.write_text("")
    kind, message = kind_of(an_order(piece))
    assert (kind, "known_hosts" in message) == (FailureKind.NO_ACCESS, True)
    other_key = server.folder.joinpath("user_key.pub").read_text()
    server.known_hosts.write_text(f"[{server.address}]:{server.port} {other_key}")
    kind, message = kind_of(an_order(piece))
    assert (kind, "another host key" in message) == (FailureKind.NO_ACCESS, True)
    server.process.terminate()
    server.process.wait()
    assert kind_of(an_order(piece))[0] is FailureKind.REFUSED


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    require("rclone")
    with s3_server(tmp_path / "s3") as one:
        for name, value in one.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("AWS_CA_BUNDLE")
        yield one


@pytest.mark.usefixtures("version")
def test_objects_arrive_in_parts(store: S3Server, tmp_path: Path) -> None:
    place = Place(host="x", server_url="mine:bucket/t", path=str(store.served / "bucket" / "t"))
    request = ConnectionOptions(destination=Endpoint("localhost"), server_url=place.server_url)
    tool = asyncio.run(informed(PLUGIN, request, place.path))
    pieces = some_files(tmp_path / "d", store.served / "bucket" / "t")
    large = tmp_path / "d" / "large"
    large.write_bytes(os.urandom(12_000_000))
    target = str(store.served / "bucket" / "t" / "large")
    pieces.append(Piece(source=str(large), target=target, size_bytes=12_000_000))
    order = an_order(*pieces, list_file=str(tmp_path / "list"), setting=IN_STORE)
    assert "--s3-upload-concurrency" in tool.steps(order)[0].argv
    status, output, errors = ran(tool, order)
    assert tool.trouble(status, output, errors) is None, output
    for piece in pieces:
        assert Path(piece.source).read_bytes() == Path(piece.target).read_bytes()
    store.config.write_text(store.config.read_text().replace("= secret", "= wrong"))
    trouble = tool.trouble(*ran(tool, order))
    assert trouble is not None
    assert trouble.kind is FailureKind.NO_ACCESS
    assert "wrong" not in " ".join(tool.steps(order)[0].argv)


@needs_sshd
def test_refused_connections_are_distinguished_from_other_failures(
    server: SshServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    narrow = Narrow(server.address, server.port, 3)
    with contextlib.closing(narrow):
        tool = known_tool(server, tmp_path, monkeypatch, narrow.port)
        pieces = some_files(tmp_path / "d", tmp_path / "t", 9)
        setting: Setting = {"concurrency": 8, "parallelism": 1, "outstanding": 64}
        order = an_order(*pieces, list_file=str(tmp_path / "list"), setting=setting)
        _, output, errors = ran(tool, order)
    assert "accepts no more connections" in tool.refusal(output, errors)  # type: ignore[attr-defined]  # of a LimitedTool


def test_a_folder_that_another_client_has_just_made_is_tried_again() -> None:
    said = 'mkdir "/d/small" failed: sftp: "Failure" (SSH_FX_FAILURE)'
    trouble = PLUGIN.trouble(1, "", said)
    assert trouble is not None
    assert trouble.kind is FailureKind.INCOMPLETE
    denied = PLUGIN.trouble(1, "", 'mkdir "/d/small" failed: permission denied')
    assert denied is not None
    assert denied.kind is FailureKind.NO_ACCESS
