"""rsync as a tool that is profiled: its lookups and space, its steps run with a real sshd."""

import contextlib
import functools
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from advisor import registry
from advisor.api.tool import (
    LimitedTool,
    LookingTool,
    Piece,
    Place,
    ToolLimits,
    TransferOrder,
)
from advisor.domain.dataset import Dataset
from advisor.domain.measurement import FailureKind
from advisor.domain.space import Setting
from advisor.testing.samples import a_path
from advisor.testing.tools import TransferToolContract, a_command_request
from advisor.traits import checked_server
from tests.benchmarks.disk.files import difference
from tests.narrow import Narrow
from tests.ssh_server import SshServer, needs_sshd, ssh_server

from .gridftp_lines import require
from .whole_files import (
    assert_they_arrived,
    assert_what_links_point_to_arrived,
    files_named,
    find_that_fails,
    linked,
    logged_in,
    order_of,
    ran,
    replace_by_another,
)

PLUGIN = registry.transfer_tool("rsync")
assert isinstance(PLUGIN, LookingTool)
PLACE = Place(host="me@dtn", path="/t")
VERSION = "rsync  version 3.2.7  protocol version 31\n"
FOUND = {"version": VERSION, "login": f"Welcome!\r\n{VERSION}", "cipher": ""}
FILES = Dataset(total_bytes=10**9, path="/d", files=100, largest="a", largest_bytes=10**8)
AS_TYPED: Setting = {"concurrency": 1, "parallelism": 1, "options": "none"}
SETTINGS: list[Setting] = [AS_TYPED, *({"concurrency": n, "parallelism": 1} for n in (1, 4))]


class TestContract(TransferToolContract):
    plugin = PLUGIN


class TestContractWhenInformed(TransferToolContract):
    plugin = PLUGIN.informed(PLACE, FOUND)


an_order = functools.partial(order_of, SETTINGS[-1])


# --- what is looked up ---


def _line(found: dict[str, str], setting: Setting = SETTINGS[1]) -> str:
    request = a_command_request(settings={"rsync": setting}, subject="rsync", dataset=FILES)
    [command] = PLUGIN.informed(PLACE, found).commands(request)
    return command.shell


def test_a_fast_cipher_is_used_where_both_ends_have_it() -> None:
    assert "-c aes128-gcm@openssh.com" in _line(FOUND)
    without = {name: text for name, text in FOUND.items() if name != "cipher"}
    assert "aes128" not in _line(without)


def test_an_option_that_one_of_both_versions_lacks_is_left_out() -> None:
    assert "--mkpath" in _line(FOUND)
    old = VERSION.replace("3.2.7", "3.1.3")
    assert "--mkpath" not in _line(FOUND | {"version": old})
    assert "--mkpath" not in _line(FOUND | {"login": old})


def test_several_processes_do_not_race_for_the_target() -> None:
    """With --mkpath, an rsync fails where another has made the folder since it looked."""
    old = VERSION.replace("3.2.7", "3.1.3")
    for found in (FOUND, FOUND | {"version": old, "login": old}):
        line = _line(found, SETTINGS[-1])
        assert "mkdir -p " in line
        assert "--mkpath" not in line


@pytest.mark.parametrize(
    ("login", "words"),
    [
        ("", "ssh cannot run rsync at me@dtn"),
        ("me@dtn: Permission denied (publickey).\r\n", "Permission denied"),
        ("bash: line 1: rsync: command not found\n", "not installed at me@dtn"),
    ],
)
def test_what_is_missing_is_said_before_it_starts(login: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        PLUGIN.informed(PLACE, {"version": VERSION, "login": login})


@pytest.mark.parametrize("url", ["ssh://dtn", "ssh://me@dtn:2222/", "ssh://[::1]:22"])
def test_a_server_that_may_be_named(url: str) -> None:
    assert checked_server(url, ["rsync"]) == url.rstrip("/")


@pytest.mark.parametrize(
    "url", ["ssh://-oProxyCommand=x", "ssh://-u@h", "ssh://h/path", "rsync://h", "ssh://h:a"]
)
def test_a_server_that_may_not_be_named(url: str) -> None:
    with pytest.raises(ValueError, match="ssh://USER@HOST:PORT"):
        checked_server(url, ["rsync"])


# --- the space ---


def test_processes_are_searched_in_doublings() -> None:
    space = PLUGIN.space(a_path(), FILES, ToolLimits(max_concurrency=24))
    assert [(one.name, one.upper) for one in space.parameters] == [("concurrency", 16)]
    assert space.fixed == {"parallelism": 1}


def test_the_default_too_keeps_names_from_the_shell_there() -> None:
    assert "rsync -a -s " in _line(FOUND, AS_TYPED)
    piece = Piece(source="/d/a", target="/t/a", size_bytes=1)
    [step] = PLUGIN.steps(an_order(piece, setting=AS_TYPED))
    assert step.argv[:3] == ["rsync", "-a", "-s"]


def test_the_faster_cipher_has_a_baseline_of_its_own() -> None:
    roles = [one.role for one in PLUGIN.informed(PLACE, FOUND).baselines(a_path(), FILES)]
    assert roles == ["default", "default with -c aes128-gcm@openssh.com"]


# --- the steps ---


def test_a_list_begins_with_the_largest_file() -> None:
    sizes = {"b": 10, "#a": 20, "c": 30}
    pieces = [Piece(source=f"/d/{n}", target=f"/t/{n}", size_bytes=s) for n, s in sizes.items()]
    [step] = PLUGIN.steps(an_order(*pieces))
    assert step.list_text == "./c\n./#a\n./b\n"
    assert step.as_login
    assert step.by_children


def test_no_more_processes_than_files() -> None:
    pieces = [Piece(source=f"/d/{n}", target=f"/t/{n}", size_bytes=1) for n in "ab"]
    [step] = PLUGIN.steps(an_order(*pieces))
    assert "split -n r/2 " in " ".join(step.argv)


def test_files_that_would_change_their_names_are_refused() -> None:
    pieces = [Piece(source=f"/d/{n}", target=f"/t/{n}x", size_bytes=1) for n in ("a", "b")]
    with pytest.raises(ValueError, match="rsync moves a list of files only under their own names"):
        PLUGIN.steps(an_order(*pieces))


def test_ranges_are_refused() -> None:
    piece = Piece(source="/d/a", target="/t/a", size_bytes=1, offset_bytes=1, is_whole=False)
    with pytest.raises(ValueError, match="whole files"):
        PLUGIN.steps(an_order(piece))


def test_lines_of_several_processes_are_counted_together() -> None:
    reader = PLUGIN.reader()
    read = [
        reader.feed(line) for line in ("<f+++++++++ 20 9", "cd+++++++++ 4096 0", "<f..t...... 3 8")
    ]
    assert [one and (one.moved_bytes, one.files_begun) for one in read] == [(20, 1), None, (23, 2)]


# --- several processes ---

# Ends well only while as many of them run at the same time as are wanted.
MEETING = """#!/bin/sh
touch "$MET/$$"
for _ in $(seq 200); do
    [ "$(ls "$MET" | wc -l)" -ge 4 ] && exit 0
    sleep 0.1
done
exit 1
"""


def test_processes_run_at_the_same_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    met, program = tmp_path / "met", tmp_path / "bin" / "rsync"
    for folder in (met, program.parent, tmp_path / "lists"):
        folder.mkdir()
    program.write_text(MEETING)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("MET", str(met))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "lists"))
    pieces = some_files(tmp_path / "d", tmp_path / "t")
    assert ran(PLUGIN, an_order(*pieces, list_file=str(tmp_path / "list")))[0] == 0
    assert len(list(met.iterdir())) == 4
    for one in met.iterdir():
        one.unlink()
    request = a_command_request(
        subject="rsync",
        settings={"rsync": SETTINGS[-1]},
        dataset=Dataset(total_bytes=10**6, path=str(tmp_path / "d"), files=12, largest="a"),
        destination_path="/t",
    )
    [command] = PLUGIN.commands(request)
    assert subprocess.run(command.shell, shell=True, check=False).returncode == 0
    assert len(list(met.iterdir())) == 4
    assert not list((tmp_path / "lists").iterdir()), "its lists are removed"


# --- with a real server ---


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SshServer]:
    require("rsync", "ssh")
    # Of a login shell that knows no POSIX.
    monkeypatch.setenv("SHELL", "/bin/false")
    # A busy host may log in slowly: the usual limit refuses some of more than ten at a time.
    with ssh_server(tmp_path / "ssh", "MaxStartups 100") as one:
        yield one


known_tool = functools.partial(logged_in, PLUGIN, "ssh")


NAMES = ["a 'b' \"c\"", "$(touch x)`y`\\", "#h", ";s", "-e x", "ümläut", ":c", *map(str, range(5))]


some_files = functools.partial(files_named, NAMES)


@needs_sshd
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("is_proven", [False, True])
def test_files_arrive_under_their_names(
    server: SshServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    setting: Setting,
    is_proven: bool,
) -> None:
    tool = known_tool(server, tmp_path, monkeypatch)
    pieces = some_files(tmp_path / "d", tmp_path / "t")
    if is_proven:
        replace_by_another(pieces[0])
    order = an_order(
        *pieces, list_file=str(tmp_path / "list"), is_proven=is_proven, setting=setting
    )
    status, output, errors = ran(tool, order)
    assert tool.trouble(status, output, errors) is None, errors
    assert_they_arrived(tool, pieces, output)


@needs_sshd
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_printed_line_copies_a_folder_with_all_it_has(
    server: SshServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: Setting
) -> None:
    tool = known_tool(server, tmp_path, monkeypatch)
    source, target = tmp_path / "run '4\" 2$", tmp_path / "deep" / "there $x"
    files_named([*NAMES, "line\nend", "-n"], source, target)
    (source / "empty").mkdir()
    (source / "link").symlink_to("nowhere")
    (source / "it's below").chmod(0o555)
    os.utime(source / "it's below", (1e9, 1e9))
    request = a_command_request(
        subject="rsync",
        settings={"rsync": setting},
        dataset=Dataset(total_bytes=10**6, path=str(source), files=14, largest="a"),
        source_path=str(source),
        destination_path=str(target),
    )
    [command] = tool.commands(request)
    try:
        done = subprocess.run(command.shell, shell=True, check=False, capture_output=True)
        assert done.returncode == 0, done.stderr
        assert not difference(source, target)
        assert (target / "empty").is_dir()
        assert (target / "link").readlink() == Path("nowhere")
        there = (target / "it's below").stat()
        assert (there.st_mode & 0o777, there.st_mtime) == (0o555, 1e9)
    finally:
        for folder in (source, target):
            with contextlib.suppress(FileNotFoundError):
                (folder / "it's below").chmod(0o755)


@needs_sshd
@pytest.mark.parametrize("setting", SETTINGS)
def test_older_versions_write_nothing_beside_a_target_with_a_space(
    server: SshServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: Setting
) -> None:
    """Before 3.2.4 the shell at the destination gets the names, as it does with RSYNC_OLD_ARGS."""
    monkeypatch.setenv("RSYNC_OLD_ARGS", "1")
    tool = known_tool(server, tmp_path, monkeypatch)
    theirs = tmp_path / "there"
    theirs.mkdir()
    target = tmp_path / "there x"
    pieces = some_files(tmp_path / "d", target)
    order = an_order(*pieces, list_file=str(tmp_path / "list"), setting=setting)
    status, output, errors = ran(tool, order)
    assert tool.trouble(status, output, errors) is None, errors
    assert_they_arrived(tool, pieces, output)
    shutil.rmtree(target)
    request = a_command_request(
        subject="rsync",
        settings={"rsync": setting},
        dataset=Dataset(total_bytes=10**6, path=str(tmp_path / "d"), files=14, largest="a"),
        destination_path=str(target),
    )
    [command] = tool.commands(request)
    done = subprocess.run(command.shell, shell=True, check=False, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert not difference(tmp_path / "d", target)
    assert not list(theirs.iterdir())


@needs_sshd
@pytest.mark.parametrize("setting", SETTINGS)
def test_a_target_that_cannot_be_shown_is_quoted_for_any_shell_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: Setting
) -> None:
    """The login shell there need not be bash."""
    require("rsync", "ssh")
    as_sh = 'ForceCommand exec sh -c "$SSH_ORIGINAL_COMMAND"'
    target = tmp_path / "a\tb\u200dc" / "deep"
    with ssh_server(tmp_path / "ssh", "MaxStartups 100", as_sh) as one:
        tool = known_tool(one, tmp_path, monkeypatch)
        pieces = some_files(tmp_path / "d", target)
        order = an_order(*pieces, list_file=str(tmp_path / "list"), setting=setting)
        status, output, errors = ran(tool, order)
    assert tool.trouble(status, output, errors) is None, errors
    assert_they_arrived(tool, pieces, output)


@needs_sshd
def test_a_folder_that_is_gone_copies_nothing(
    server: SshServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not that in which the shell happens to be."""
    tool = known_tool(server, tmp_path, monkeypatch)
    request = a_command_request(
        subject="rsync",
        settings={"rsync": SETTINGS[-1]},
        dataset=Dataset(total_bytes=10**6, path="/x", files=14, largest="a"),
        source_path=str(tmp_path / "gone"),
        destination_path=str(tmp_path / "there"),
    )
    [command] = tool.commands(request)
    done = subprocess.run(command.shell, shell=True, check=False, cwd=tmp_path / "ssh")
    assert done.returncode != 0
    assert not (tmp_path / "there").exists()


@needs_sshd
def test_a_folder_that_cannot_be_looked_into_copies_nothing(
    server: SshServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not all but that folder, with status 0."""
    tool = known_tool(server, tmp_path, monkeypatch)
    files_named(NAMES, tmp_path / "d", tmp_path / "there")
    request = a_command_request(
        subject="rsync",
        settings={"rsync": SETTINGS[-1]},
        dataset=Dataset(total_bytes=10**6, path="/x", files=14, largest="a"),
        source_path=str(tmp_path / "d"),
        destination_path=str(tmp_path / "there"),
    )
    [command] = tool.commands(request)
    environment = find_that_fails(tmp_path)
    done = subprocess.run(command.shell, shell=True, check=False, env=environment)
    assert done.returncode != 0
    assert not (tmp_path / "there").exists()


@needs_sshd
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
def test_one_file_may_change_its_name(
    server: SshServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = known_tool(server, tmp_path, monkeypatch)
    piece = msgspec.structs.replace(
        some_files(tmp_path / "d", tmp_path / "t")[0], target=str(tmp_path / "t" / "other")
    )
    status, output, errors = ran(tool, an_order(piece))
    assert tool.trouble(status, output, errors) is None, errors
    assert Path(piece.target).read_bytes() == Path(piece.source).read_bytes()


@needs_sshd
def test_a_shell_that_prints_text_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require("rsync", "ssh")
    prints = "ForceCommand echo Welcome; eval $SSH_ORIGINAL_COMMAND"
    with ssh_server(tmp_path / "ssh", prints) as one:
        tool = known_tool(one, tmp_path, monkeypatch)
        pieces = some_files(tmp_path / "d", tmp_path / "t")
        trouble = tool.trouble(*ran(tool, an_order(*pieces, list_file=str(tmp_path / "list"))))
    assert trouble is not None
    assert trouble.kind is FailureKind.NO_ACCESS
    assert "start-up files at the destination" in trouble.message


@needs_sshd
def test_troubles(server: SshServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = known_tool(server, tmp_path, monkeypatch)
    [piece, *_] = some_files(tmp_path / "d", tmp_path / "t")

    def kind_of(order: TransferOrder) -> tuple[FailureKind, str]:
        status, output, errors = ran(tool, order)
        trouble = tool.trouble(status, output, errors)
        assert trouble is not None
        assert tool.refusal(output, errors) == ""  # type: ignore[attr-defined]  # of a LimitedTool
        return trouble.kind, trouble.message + errors

    def to(target: str) -> TransferOrder:
        moved = msgspec.structs.replace(piece, target=target)
        return an_order(moved, list_file=str(tmp_path / "list"))

    for target in ("/dev/null/x", "/proc/x/y"):
        kind, message = kind_of(to(target))
        assert kind is FailureKind.NO_ACCESS, message
    gone = msgspec.structs.replace(piece, source=f"{piece.source} gone")
    kind, message = kind_of(an_order(gone))
    assert kind is FailureKind.FILES_CHANGED, message
    server.known_hosts.write_text("")
    kind, message = kind_of(an_order(piece))
    assert (kind, "host key" in message) == (FailureKind.NO_ACCESS, True), message
    server.process.terminate()
    server.process.wait()
    kind, message = kind_of(an_order(piece))
    assert kind is FailureKind.REFUSED, message


SAID = {
    'rsync: [receiver] write failed on "/x/f 1": No space left on device (28)': (
        FailureKind.DISK_FULL,
        "disk is full",
    ),
    "bash: line 1: /opt/rsync: No such file or directory": (
        FailureKind.NO_ACCESS,
        "not installed at the destination",
    ),
    "Unable to negotiate with 127.0.0.1 port 24334: no matching cipher found. Their offer: x": (
        FailureKind.REJECTED_SETTING,
        "leave out -c",
    ),
    "rsync: --mkpath: unknown option": (FailureKind.REJECTED_SETTING, "no option --mkpath"),
    'rsync: [sender] send_files failed to open "/x/s": Permission denied (13)': (
        FailureKind.NO_ACCESS,
        '"/x/s" cannot be read',
    ),
    'rsync: [receiver] mkstemp "/x/.x.LImebv" failed: Permission denied (13)': (
        FailureKind.NO_ACCESS,
        "account at the server may not write there",
    ),
    'rsync: [Receiver] mkdir "/x/t" failed: Permission denied (13)': (
        FailureKind.NO_ACCESS,
        'The folder "/x/t" cannot be made at the destination (Permission denied)',
    ),
    "root@127.0.0.1: Permission denied (publickey).": (
        FailureKind.NO_ACCESS,
        "accepts none of the keys (publickey)",
    ),
    "me@dtn: Permission denied (publickey,gssapi-with-mic,keyboard-interactive).": (
        FailureKind.NO_ACCESS,
        "accepts none of the keys (publickey,gssapi-with-mic,keyboard-interactive)",
    ),
    "rsync: connection unexpectedly closed (0 bytes received so far) [sender]": (
        FailureKind.RESET,
        "connection was lost",
    ),
}


@pytest.mark.parametrize("said", SAID)
def test_what_rsync_says_has_a_kind_and_a_remedy(said: str) -> None:
    """As rsync 3.5.0 and OpenSSH 9.2 say it."""
    errors = f"{said}\nrsync error: some files/attrs were not transferred (code 23) at main.c(1394)"
    trouble = PLUGIN.trouble(23, "", errors)
    assert trouble is not None
    kind, words = SAID[said]
    assert trouble.kind is kind
    assert words in trouble.message


@needs_sshd
def test_refused_connections_are_distinguished_from_other_failures(
    server: SshServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    narrow = Narrow(server.address, server.port, 3)
    with contextlib.closing(narrow):
        tool = known_tool(server, tmp_path, monkeypatch, narrow.port)
        assert isinstance(tool, LimitedTool)
        pieces = some_files(tmp_path / "d", tmp_path / "t")
        setting: Setting = {"concurrency": 8, "parallelism": 1}
        order = an_order(*pieces, list_file=str(tmp_path / "list"), setting=setting)
        _, output, errors = ran(tool, order)
    assert "accepts no more connections" in tool.refusal(output, errors), errors
