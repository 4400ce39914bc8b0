import asyncio
import contextlib
import os
import re
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest

from advisor import registry
from advisor.domain.advice import Command
from advisor.domain.dataset import Dataset
from advisor.hosts.processes import running
from advisor.testing.samples import a_path
from advisor.testing.tools import a_command_request

PLUGIN = registry.tool("aria2c")
LINE_S = 30.0
SMALL = Dataset(total_bytes=10**6, files=1000, largest="a", largest_bytes=10**3)


def the_line(**changes: object) -> Command:
    (command,) = PLUGIN.commands(a_command_request(**changes))
    return command


def tcp(streams: int, buffer_bytes: int = 0) -> dict[str, dict[str, object]]:
    return {"tcp": {"streams": streams, "buffer_bytes": buffer_bytes, "congestion": "cubic"}}


# --- what is written ---


def test_one_file_is_fetched_in_parts() -> None:
    command = the_line(source_path="/data/run 7.h5", destination_path="/store/it's.h5")
    assert command.side == "destination"
    assert command.argv == [
        *["aria2c", "-x", "8", "-s", "8", "-k", "1M", "--socket-recv-buffer-size", "4194304"],
        *["--file-allocation", "falloc", "-d", "/", "-o"],
        "/store/it's.h5",
        "http://192.0.2.1:8080/data/run%207.h5",
    ]
    assert "send buffer (4194304 bytes when measured)" in command.note


def test_the_kernels_own_buffers_are_left_alone() -> None:
    command = the_line(settings=tcp(8))
    assert "--socket-recv-buffer-size" not in command.argv
    assert "send buffer" not in command.note


def test_more_streams_than_it_takes_are_reported() -> None:
    command = the_line(settings=tcp(22))
    assert command.argv[1:5] == ["-x", "16", "-s", "16"]
    assert "Measured with 22 streams; aria2c opens 16 for a file." in command.note
    assert "Measured with" not in the_line(settings=tcp(16)).note


def test_small_files_are_fetched_side_by_side_from_a_list() -> None:
    command = the_line(
        source_path="/data/run42",
        destination_path="/store/run42",
        dataset=SMALL,
        settings=tcp(22, 2**20),
    )
    assert command.side == "source"
    assert command.argv[3:5] == ["/data/run42/", "http://192.0.2.1:8080/data/run42"]
    assert command.argv[6] == "dtn.example.org"
    there = command.argv[5]
    assert "-x 1 -s 1 -k 1M -j 22 --socket-recv-buffer-size 1048576" in there
    assert there.endswith("-d . -i -")
    assert " /store/run42 " in there
    assert "--follow-torrent=false --follow-metalink=false" in there
    assert "The source needs a web server" in command.note


def test_a_folder_that_cannot_be_shown_is_quoted_for_any_shell_there() -> None:
    """ssh starts the login shell there, which need not know the quotes of bash."""
    command = the_line(source_path="/d", destination_path="/s/a\tb", dataset=SMALL)
    assert " '/s/a\tb' " in command.argv[5]
    assert "\t" not in command.shell


def test_an_ipv6_address() -> None:
    path = a_path(source_address="2001:db8::1")
    assert the_line(path=path).argv[-1] == "http://[2001:db8::1]:8080/SOURCE_PATH"


# --- what the lines do ---


class _Server(ThreadingHTTPServer):
    """Serves any file in parts, to this many connections at once and not to fewer."""

    # No thread outlives the test: what it prints would be taken for another test's output.
    daemon_threads = False
    together: threading.Barrier

    def handle_error(self, request: object, client_address: object) -> None:
        """Of a connection that the client resets; what else goes wrong, the client tells."""


class _Parts(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        content = Path(os.fsdecode(unquote_to_bytes(self.path))).read_bytes()
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "bytes=0-"))
        assert asked is not None
        first, last = int(asked[1]), int(asked[2] or len(content) - 1)
        self.send_response(206 if "Range" in self.headers else 200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Range", f"bytes {first}-{last}/{len(content)}")
        self.send_header("Content-Length", str(last + 1 - first))
        self.end_headers()
        self.wfile.flush()
        self.server.together.wait(LINE_S)
        # A connection that another took a part from is closed on the way.
        with contextlib.suppress(OSError):
            self.wfile.write(content[first : last + 1])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 — the base class's name
        pass


@contextlib.contextmanager
def serving(connections: int) -> Iterator[int]:
    with _Server(("127.0.0.1", 0), _Parts) as server:
        server.together = threading.Barrier(connections)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.together.abort()
            server.shutdown()
            thread.join()


async def run(line: str) -> None:
    async with asyncio.timeout(LINE_S), running(["sh", "-c", line]) as child:
        output = await child.stdout.read()
        assert await child.wait() == 0, output.decode() + child.stderr.decode(errors="replace")


@pytest.fixture
def aria2c() -> None:
    if shutil.which("aria2c") is None:
        pytest.skip("aria2c is absent: apt install aria2")


@pytest.mark.usefixtures("aria2c")
@pytest.mark.parametrize("streams", [1, 4])
@pytest.mark.parametrize("name", ["a b", "it's", 'q"x', "50%", "$HOME`x`", "mésure"])
def test_a_file_comes_over_as_many_connections(tmp_path: Path, name: str, streams: int) -> None:
    content = os.urandom(streams * 4 * 2**20)
    (tmp_path / name).write_bytes(content)
    target = tmp_path / "deep" / name
    with serving(streams) as port:
        command = the_line(
            settings=tcp(streams, 2**18),
            path=a_path(source_address="127.0.0.1"),
            source_path=str(tmp_path / name),
            destination_path=str(target),
        )
        asyncio.run(run(command.shell.replace(":8080/", f":{port}/")))
    assert target.read_bytes() == content
