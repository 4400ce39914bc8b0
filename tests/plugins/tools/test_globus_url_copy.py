import asyncio
import ctypes.util
import os
import re
import shlex
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from advisor.api.tool import Kept, Place, ServedTool, Tool
from advisor.domain.dataset import Dataset
from advisor.domain.space import Setting
from advisor.hosts.processes import running
from advisor.testing.gridftp import GridFTPServer, anonymous_server, gsi_server
from advisor.testing.samples import a_host, a_path
from tests.plugins.tools.gridftp_lines import (
    LINE_S,
    PLUGIN,
    TCP,
    UDT,
    a_directory,
    a_request,
    contents,
    require,
    run_as_printed,
    the_line,
)


@pytest.fixture
def ftp_programs() -> None:
    require("globus-gridftp-server", "globus-url-copy")


@pytest.fixture
def udt_programs(ftp_programs: None) -> None:
    require("grid-proxy-init", "openssl")
    if ctypes.util.find_library("globus_xio_udt_driver") is None:
        pytest.skip("the UDT driver is absent: apt install libglobus-xio-udt-driver")


# --- what is written ---


def test_it_is_a_tool_that_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(PLUGIN, Tool)
    monkeypatch.setenv("PATH", "")
    assert not PLUGIN.available().ok
    assert "globus-gass-copy-progs" in PLUGIN.available().remedy


@pytest.mark.parametrize(
    ("host", "server", "place"),
    [
        ("me@dtn2.example.org", None, ("dtn2.example.org", 2811)),
        ("dtn2", "gsiftp://dtn3", ("dtn3", 2811)),
        ("dtn2", "ftp://dtn3", ("dtn3", 21)),
        ("dtn2", "ftp://[2001:db8::7]:5000", ("2001:db8::7", 5000)),
    ],
)
def test_where_its_server_is(host: str, server: str | None, place: tuple[str, int]) -> None:
    assert isinstance(PLUGIN, ServedTool)
    assert PLUGIN.served_at(Place(host=host, server_url=server)) == place


def test_one_file_over_tcp() -> None:
    command = the_line(a_request())
    assert command.side == "source"
    assert command.shell == (
        "globus-url-copy -vb -fast -p 4 -tcp-bs 1048576 -bs 1048576 "
        "file:///data/run%207.h5 sshftp://dtn2.example.org/store/run%207.h5"
    )
    assert "globus-gridftp-server-enable-sshftp" in command.note
    assert (
        "globus-gridftp-server -p 2811 -hostname 192.0.2.2 -restrict-paths RW/store,RW/dev/null"
        in (command.note)
    )


@pytest.mark.parametrize(
    "url", ["ssh://me@x:2222", "sftp://x", "root://x:1094", "https://x:9000/bucket", "mine:bucket"]
)
def test_another_tools_server_is_none_of_its_own(url: str) -> None:
    for subject in ("tcp", "udt", "globus-url-copy"):
        settings: dict[str, Setting] = {"tcp": TCP, "udt": UDT}
        if subject == "globus-url-copy":
            settings = {subject: {"concurrency": 2, "parallelism": 2}}
        bare = a_request(subject=subject, settings=settings)
        named = msgspec.structs.replace(bare, server_url=url)
        assert PLUGIN.commands(named) == PLUGIN.commands(bare)
    assert isinstance(PLUGIN, ServedTool)
    assert PLUGIN.served_at(Place(host="dtn2", server_url=url)) == ("dtn2", 2811)


def test_one_file_over_udt() -> None:
    command = the_line(a_request(subject="udt", server_url="gsiftp://dtn2:2812"))
    assert command.shell == (
        "globus-url-copy -vb -bs 895600 -dcstack 'udt:mss=9000;fc=8192' "
        "file:///data/run%207.h5 gsiftp://dtn2:2812/store/run%207.h5"
    )
    assert "-dc-whitelist udt,gsi,tcp" in command.note
    assert "globus-gridftp-server" not in command.note


@pytest.mark.parametrize("buffer_bytes", [2**20, 2**30])
def test_a_udt_buffer_that_cannot_be_had_is_reported(buffer_bytes: int) -> None:
    settings = {"udt": UDT | {"buffer_bytes": buffer_bytes}}
    note = the_line(a_request(subject="udt", settings=settings)).note
    assert "GridFTP always uses 70.1 MiB" in note
    assert "GridFTP always uses" not in the_line(a_request(subject="udt")).note


def test_a_server_that_ignores_udt_gets_the_tcp_line_first() -> None:
    request = a_request(subject="udt", server_url="ftp://dtn2:5820")
    tcp, udt = PLUGIN.commands(request)
    assert tcp.argv[-1].startswith("ftp://dtn2:5820/")
    assert "-p" in tcp.argv
    assert "ignores it" in tcp.note
    assert udt.argv[-1].startswith("gsiftp://dtn2:5820/")
    (only,) = PLUGIN.commands(msgspec.structs.replace(request, settings={"udt": UDT}))
    assert only.argv == udt.argv


def test_no_setting_no_line() -> None:
    assert PLUGIN.commands(a_request(settings={"udt": UDT})) == []


def test_the_kernels_own_buffers_are_left_alone() -> None:
    command = the_line(a_request(settings={"tcp": TCP | {"buffer_bytes": 0}}))
    assert "-tcp-bs" not in command.argv


def test_another_congestion_control_is_a_remedy_not_a_step() -> None:
    assert "sysctl" not in the_line(a_request()).note
    path = a_path(source=a_host(congestion="reno"))
    command = the_line(a_request(path=path))
    assert "sysctl -w net.ipv4.tcp_congestion_control=cubic" in command.note
    assert "sysctl" not in command.shell


def test_placeholders_only_for_what_was_not_said() -> None:
    bare = the_line(a_request(source_path=None, destination_path=None))
    assert bare.argv[-2:] == [
        "file:///SOURCE_PATH",
        "sshftp://dtn2.example.org/DESTINATION_PATH",
    ]
    assert "Replace SOURCE_PATH and DESTINATION_PATH with the real paths." in bare.note
    named = the_line(a_request(source_path=None, dataset=Dataset(total_bytes=1, path="/d/f")))
    assert named.argv[-2] == "file:///d/f"
    assert "Replace" not in named.note
    half = the_line(a_request(destination_path=None))
    assert "Replace DESTINATION_PATH with the real path." in half.note
    assert "SOURCE_PATH" not in half.note


def test_a_host_that_is_an_ipv6_address() -> None:
    command = the_line(a_request(destination_host="2001:db8::1"))
    assert command.argv[-1].startswith("sshftp://[2001:db8::1]/")


def test_relative_paths_are_reported() -> None:
    assert "absolute" in the_line(a_request(source_path="run7.h5")).note


def options_for(dataset: Dataset, **setting: int) -> list[str]:
    settings = {"tcp": TCP | setting}
    command = the_line(a_request(settings=settings, dataset=dataset, source_path="/data"))
    assert command.argv[-2:] == [
        "file:///data/",
        "sshftp://dtn2.example.org/store/run%207.h5/",
    ]
    assert {"-r", "-cd", "-pp"} <= set(command.argv)
    return command.argv


def value_of(argv: list[str], option: str) -> int:
    return int(argv[argv.index(option) + 1]) if option in argv else 1


@pytest.mark.parametrize("streams", [1, 4, 6, 7, 12, 25])
@pytest.mark.parametrize("largest", [1000, 200_000, 3_000_000, 2**40])
def test_small_files_go_side_by_side_over_the_streams_measured(streams: int, largest: int) -> None:
    argv = options_for(a_directory(*[1000] * 999, largest), streams=streams)
    assert value_of(argv, "-cc") * value_of(argv, "-p") == streams


def test_the_largest_file_gets_the_streams_it_needs() -> None:
    even = options_for(a_directory(*[1000] * 1000), streams=12)
    assert (value_of(even, "-cc"), value_of(even, "-p")) == (12, 1)
    # A third of all the bytes, so a third of the streams.
    uneven = options_for(a_directory(*[1000] * 1000, 500_000), streams=12)
    assert (value_of(uneven, "-cc"), value_of(uneven, "-p")) == (3, 4)


def test_large_files_go_one_after_the_other() -> None:
    argv = options_for(a_directory(10**10, 10**10))
    assert "-cc" not in argv
    assert value_of(argv, "-p") == 4


@pytest.mark.parametrize("url", [None, "ftp://s:1", "gsiftp://s:1"])
@pytest.mark.parametrize("transport", ["tcp", "udt"])
def test_argv_and_shell_are_the_same_line(transport: str, url: str | None) -> None:
    request = a_request(subject=transport, server_url=url, source_path="/a b/it's $HOME")
    for command in PLUGIN.commands(request):
        assert shlex.split(command.shell) == command.argv
        assert command.argv[-2] == "file:///a%20b/it%27s%20%24HOME"
        assert not re.search(r"\s(rm|sysctl)\s", command.shell)


def test_nothing_hangs_over_udt() -> None:
    request = a_request(subject="udt", source_path="/data/", dataset=a_directory(1, 2))
    assert not {"-udt", "-fast", "-p", "-pp", "-cc"} & set(the_line(request).argv)


# --- what the lines do ---


async def logged(server: GridFTPServer) -> str:
    """The server's own line on the first transfer; it comes a little after the end."""
    for _ in range(100):
        found = re.search(r"Transfer stats: .*", server.log.read_text())
        if found:
            return found.group()
        await asyncio.sleep(0.05)
    raise AssertionError("the server logged no transfer")


def put(
    starting: AbstractAsyncContextManager[GridFTPServer],
    source: str,
    name: str,
    **changes: Any,
) -> dict[str, Any]:
    """Copy `source` to `name` on a new server; what came there by relative path, and its log."""

    async def scenario() -> dict[str, Any]:
        async with starting as server:
            request = a_request(
                source_path=source,
                destination_path=f"{server.folder}/{name}",
                server_url=server.url,
                **changes,
            )
            await run_as_printed(server, the_line(request).shell)
            return {"files": contents(server.folder), "log": await logged(server)}

    return asyncio.run(scenario())


@pytest.fixture
def content() -> bytes:
    return os.urandom(8 * 2**20 + 12345)


@pytest.fixture
def source(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "source.bin"
    path.write_bytes(content)
    return path


@pytest.mark.usefixtures("ftp_programs")
class TestOverTcp:
    def test_a_file_with_streams_and_buffer(self, source: Path, content: bytes) -> None:
        setting = TCP | {"streams": 3, "buffer_bytes": 262144}
        got = put(anonymous_server(), str(source), "new.bin", settings={"tcp": setting})
        assert got["files"] == {"new.bin": content}
        assert "STREAMS=3 " in got["log"]
        assert re.search(r"BUFFER=(262144|524288) ", got["log"])

    def test_a_file_with_the_kernels_own_buffers(self, source: Path, content: bytes) -> None:
        setting = TCP | {"buffer_bytes": 0}
        got = put(anonymous_server(), str(source), "new.bin", settings={"tcp": setting})
        assert got["files"] == {"new.bin": content}

    @pytest.mark.parametrize(
        "name",
        ["a b", "it's", 'q"x', "50%", "p%41", "h#1", "st*r?[1]", "a&b;c|d", "$HOME`x`", "back\\n"],
    )
    def test_names_that_a_url_or_a_shell_would_take_apart(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).write_bytes(b"content")
        got = put(anonymous_server(), str(tmp_path / name), name)
        assert got["files"] == {name: b"content"}

    @pytest.mark.parametrize("name", ["mésure", os.fsdecode(b"latin\xe9"), "測定"])
    def test_a_source_name_beyond_ascii(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).write_bytes(b"content")
        got = put(anonymous_server(), str(tmp_path / name), "ascii")
        assert got["files"] == {"ascii": b"content"}

    def test_a_directory_of_small_files(self, tmp_path: Path) -> None:
        source = tmp_path / "the tree #1"
        (source / "sub dir").mkdir(parents=True)
        for number in range(30):
            (source / "sub dir" / f"50% {number}").write_bytes(os.urandom(1000 + number))
        (source / "top").write_bytes(b"x")
        files = contents(source)
        dataset = a_directory(*map(len, files.values()))
        got = put(anonymous_server(), str(source), "new one/deep", dataset=dataset)
        assert got["files"] == {f"new one/deep/{name}": data for name, data in files.items()}

    def test_the_note_on_names_beyond_ascii_is_still_true(self, source: Path) -> None:
        got = put(anonymous_server(), str(source), "mésure")
        assert list(got["files"]) == ["msure"]


def udp_datagrams() -> int:
    """How many this host has sent."""
    names, values = (
        line.split() for line in Path("/proc/net/snmp").read_text().splitlines() if "Udp:" in line
    )
    return int(values[names.index("OutDatagrams")])


@pytest.mark.usefixtures("udt_programs")
class TestOverUdt:
    @pytest.mark.parametrize("mss_bytes", [1500, 9000])
    def test_the_bytes_flow_over_udp(self, source: Path, content: bytes, mss_bytes: int) -> None:
        setting: Setting = UDT | {"block_bytes": (mss_bytes - 44) * 64, "mss_bytes": mss_bytes}
        server = gsi_server("-dc-whitelist", "udt,gsi,tcp")
        before = udp_datagrams()
        got = put(server, str(source), "new", subject="udt", settings={"udt": setting})
        assert got["files"] == {"new": content}
        assert udp_datagrams() - before >= len(content) / mss_bytes
        # Other programs send UDP too; the server logs a TCP transfer with its socket buffer.
        assert " BUFFER=0 " in got["log"]

    @pytest.mark.parametrize("changes", [{}, {"verify": True, "kept": Kept(files=1)}])
    def test_a_directory(self, tmp_path: Path, changes: dict[str, Any]) -> None:
        (tmp_path / "deep er").mkdir()
        for number in range(5):
            (tmp_path / "deep er" / f"f {number}").write_bytes(os.urandom(5000))
        server = gsi_server("-dc-whitelist", "udt,gsi,tcp")
        got = put(server, f"{tmp_path}/", "new", subject="udt", **changes)
        assert got["files"] == {f"new/{n}": data for n, data in contents(tmp_path).items()}
        assert " BUFFER=0 " in got["log"]

    def test_tcp_over_gsiftp(self, source: Path, content: bytes) -> None:
        got = put(gsi_server(), str(source), "new")
        assert got["files"] == {"new": content}
        assert " BUFFER=0 " not in got["log"]

    def test_without_the_servers_leave_it_is_refused(self, source: Path) -> None:
        with pytest.raises(AssertionError, match="not whitelisted"):
            put(gsi_server(), str(source), "new", subject="udt")


# --- what is said of the flags ---


@pytest.mark.usefixtures("ftp_programs")
def test_every_flag_explained_is_one_the_program_knows() -> None:
    async def printed() -> str:
        async with asyncio.timeout(LINE_S), running(["globus-url-copy", "-help"]) as child:
            output = await child.stdout.read()
            await child.wait()
            return output.decode() + child.stderr.decode()

    known = set(re.findall(r"(?<!\S)-[\w-]+", asyncio.run(printed())))
    assert {usage.split()[0] for usage in PLUGIN.flags} - {"globus-url-copy"} <= known


def test_no_flag_is_explained_that_no_line_has() -> None:
    requests = [
        a_request(dataset=a_directory(*[1000] * 1000), source_path="/data"),
        a_request(subject="udt"),
        a_request(verify=True, kept=Kept(files=1)),
        a_request(kept=Kept(first_bytes=1)),
    ]
    argvs = [command.argv for request in requests for command in PLUGIN.commands(request)]
    words = {word for argv in argvs for word in argv}
    assert {usage.split()[0] for usage in PLUGIN.flags} <= words
