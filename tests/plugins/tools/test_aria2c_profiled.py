"""Profiling aria2c: a real sshd that starts a real aria2c, which fetches from a real web server."""

import asyncio
import contextlib
import http.server
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
import psutil
import pytest

from advisor import registry, traits
from advisor.agent.files import FileRights, make_scratch, remove_scratch
from advisor.api.tool import LookingTool, Piece, Step, TransferOrder
from advisor.domain.advice import Command
from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Endpoint
from advisor.domain.measurement import FailureKind, Interval
from advisor.probing.transfer import Ran, run_transfer
from advisor.runtime.request import ConnectionOptions
from advisor.runtime.tool_lookups import informed
from advisor.testing.samples import a_path
from advisor.testing.tools import a_command_request
from tests.benchmarks.disk.files import difference
from tests.plugins.tools.gridftp_lines import require
from tests.plugins.tools.whole_files import find_that_fails, order_of
from tests.ssh_server import SshServer, needs_sshd, ssh_server, ssh_that_knows
from tests.web_server import WebServer, web_server

PLUGIN = registry.transfer_tool("aria2c")
USUAL: Final = {"concurrency": 3, "parallelism": 2}
LOOPBACK: Final = a_path(source_address="127.0.0.1", destination_address="127.0.0.1")
ODD_NAMES: Final = (
    *("a b#c%?.txt", "back\\slash", 'q"uo`te', "[br]{x}|^<>", "mésure", "dollar$HOME", "it's"),
    *("semi;amp&eq=+", "-dash", "#hash", "pct%20x", "x.torrent", "x.metalink", "~tilde", " lead"),
)

pytestmark = needs_sshd


@pytest.fixture
def served(tmp_path: Path) -> Iterator[WebServer]:
    require("aria2c")
    folder = tmp_path / "served"
    folder.mkdir()
    with web_server(folder) as server:
        yield server


@pytest.fixture
def sshd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SshServer]:
    with ssh_server(tmp_path / "ssh", "MaxStartups 100") as one:
        programs = ssh_that_knows(tmp_path, f"Host localhost\n{one.login}")
        monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        yield one


def known(server: WebServer) -> LookingTool:
    """The tool for what the server serves."""
    request = ConnectionOptions(destination=Endpoint("localhost"), server_url=server.url)
    tool = asyncio.run(informed(PLUGIN, request, "/t", str(server.served)))
    assert isinstance(tool, LookingTool)
    return tool


def pieces_of(server: WebServer, target: Path, *names: str, size: int = 100_000) -> list[Piece]:
    """New files at the server, to be fetched to the same names below the target."""
    pieces = []
    for name in names:
        source = server.served / name
        source.parent.mkdir(exist_ok=True, parents=True)
        source.write_bytes(os.urandom(size))
        pieces.append(Piece(source=str(source), target=str(target / name), size_bytes=size))
    return pieces


def order(tmp_path: Path, pieces: list[Piece], **changes: object) -> TransferOrder:
    given: dict[str, object] = {"path": LOOPBACK, "list_file": str(tmp_path / "list")}
    return order_of(USUAL, *pieces, **(given | changes))


def run(
    tool: LookingTool, wanted: TransferOrder, ceiling_s: float = 30.0
) -> tuple[Ran, list[Interval]]:
    [step] = tool.steps(wanted)
    seen: list[Interval] = []
    ran = asyncio.run(
        run_transfer(
            step,
            tool.reader(),
            Path(wanted.list_file),
            wanted.total_bytes,
            ceiling_s=ceiling_s,
            sample_every_s=0.1,
            seen=seen.append,
        )
    )
    return ran, seen


def arrived(pieces: list[Piece]) -> bool:
    return all(Path(p.source).read_bytes() == Path(p.target).read_bytes() for p in pieces)


# --- what it measures ---


@pytest.mark.usefixtures("sshd")
def test_the_bytes_are_those_of_the_servers_connections(served: WebServer, tmp_path: Path) -> None:
    pieces = pieces_of(served, tmp_path / "new", "large", "below/second", size=30_000_000)
    ran, seen = run(known(served), order(tmp_path, pieces))
    assert ran.status == 0, ran.output + ran.errors
    assert arrived(pieces)
    assert sum(one.received_bytes for one in seen) == 60_000_000
    assert ran.rtt_s is not None
    reader = PLUGIN.reader()
    read = [progress for line in ran.output.splitlines() if (progress := reader.feed(line))]
    assert read[-1].files_begun == 2


@pytest.mark.usefixtures("sshd")
@pytest.mark.parametrize("as_typed", [False, True])
def test_names_arrive_as_they_are(served: WebServer, tmp_path: Path, as_typed: bool) -> None:
    pieces = pieces_of(served, tmp_path / "new", *ODD_NAMES, size=3000)
    setting = USUAL | ({"options": "none"} if as_typed else {})
    ran, _ = run(known(served), order(tmp_path, pieces, setting=setting))
    assert ran.status == 0, ran.output + ran.errors
    assert arrived(pieces)
    assert len(list((tmp_path / "new").iterdir())) == len(ODD_NAMES)


@pytest.mark.usefixtures("sshd")
def test_what_is_there_is_replaced(served: WebServer, tmp_path: Path) -> None:
    pieces = pieces_of(served, tmp_path / "new", "one")
    (tmp_path / "new").mkdir()
    Path(pieces[0].target).write_bytes(bytes(100_000))
    ran, _ = run(known(served), order(tmp_path, pieces))
    assert ran.status == 0, ran.output + ran.errors
    assert arrived(pieces)


@pytest.mark.parametrize("name", ["x\n  dir=/etc", "trail ", "trail\t", "x\rout=/etc/y", "\udcff"])
def test_names_that_a_list_would_change_are_refused(name: str) -> None:
    assert PLUGIN.carries(name)
    piece = Piece(source=f"/data/{name}", target=f"/store/{name}", size_bytes=1)
    with pytest.raises(ValueError, match="rename it"):
        PLUGIN.steps(order_of(USUAL, piece))


def test_ranges_and_what_is_not_served_are_refused(tmp_path: Path) -> None:
    piece = Piece(source="/data/x", target="/store/x", size_bytes=1)
    part = msgspec.structs.replace(piece, offset_bytes=1, is_whole=False)
    with pytest.raises(ValueError, match="no ranges"):
        PLUGIN.steps(order_of(USUAL, part))


@pytest.mark.usefixtures("sshd")
def test_a_file_beside_the_served_folder_is_refused(served: WebServer, tmp_path: Path) -> None:
    beside = Piece(source=f"{served.served}2/x", target="/store/x", size_bytes=1)
    with pytest.raises(ValueError, match="is not below"):
        known(served).steps(order(tmp_path, [beside]))


# --- how it ends ---


def _aria2c_of(target: Path) -> list[psutil.Process]:
    return [
        one
        for one in psutil.process_iter(["name", "cwd"])
        if one.info["name"] == "aria2c" and str(target) in (one.info["cwd"] or "")
    ]


@pytest.mark.usefixtures("sshd")
def test_aria2c_ends_when_the_time_is_over_and_makes_no_more_files(
    sshd: SshServer, tmp_path: Path
) -> None:
    require("aria2c")
    rights = FileRights([tmp_path])
    scratch = Path(make_scratch(rights, str(tmp_path)))
    with _serving(_Slow) as port:
        server = WebServer(tmp_path, f"http://127.0.0.1:{port}", port, sshd.process)
        pieces = [
            Piece(
                source=str(tmp_path / f"x{number}"),
                target=str(scratch / "named" / f"below{number}" / "x"),
                size_bytes=_Slow.size_bytes,
            )
            for number in range(600)
        ]
        ran, seen = run(known(server), order(tmp_path, pieces), ceiling_s=10.0)
        assert ran.status is None
        assert seen
        remove_scratch(rights, str(scratch))
        deadline_s = time.monotonic() + 20
        while _aria2c_of(tmp_path):
            assert time.monotonic() < deadline_s, "aria2c outlives the connection of ssh"
            time.sleep(0.1)
        assert not scratch.exists()


class _Refusing(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(int(self.path.rpartition("/")[2]))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 — the base class's name
        pass


class _Slow(_Refusing):
    """Sends each file in a fifth of a second, so that one after another begins."""

    size_bytes = 20_000

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(self.size_bytes))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(bytes(self.size_bytes // 2))
            time.sleep(0.2)
            self.wfile.write(bytes(self.size_bytes // 2))


@contextlib.contextmanager
def _serving(handler: type[http.server.BaseHTTPRequestHandler]) -> Iterator[int]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.usefixtures("sshd")
@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (401, FailureKind.NO_ACCESS, "does not let aria2c read"),
        (403, FailureKind.NO_ACCESS, "does not let aria2c read"),
        (404, FailureKind.NO_ACCESS, "has no such file"),
        (500, FailureKind.CRASHED, "status=500"),
        (503, FailureKind.RESET, "refuses as many connections"),
    ],
)
def test_what_the_server_says_is_reported(
    sshd: SshServer, tmp_path: Path, status: int, kind: FailureKind, words: str
) -> None:
    require("aria2c")
    with _serving(_Refusing) as port:
        server = WebServer(tmp_path, f"http://127.0.0.1:{port}", port, sshd.process)
        piece = Piece(source=f"{tmp_path}/{status}", target=f"{tmp_path}/new/x", size_bytes=10)
        tool = known(server)
        ran, _ = run(tool, order(tmp_path, [piece]))
    assert ran.status
    trouble = tool.trouble(ran.status, ran.output, ran.errors)
    assert trouble is not None
    assert trouble.kind == kind
    assert words in trouble.message
    refused = bool(PLUGIN.refusal(ran.output, ran.errors))
    assert refused == (status == 503)


@pytest.mark.usefixtures("sshd")
def test_a_server_that_is_gone_is_reported(served: WebServer, tmp_path: Path) -> None:
    pieces = pieces_of(served, tmp_path / "new", "one")
    tool = known(served)
    served.process.terminate()
    served.process.wait()
    ran, _ = run(tool, order(tmp_path, pieces))
    assert ran.status
    trouble = tool.trouble(ran.status, ran.output, ran.errors)
    assert trouble is not None
    assert "cannot connect to the web server" in trouble.message


# --- what is looked up ---


@pytest.mark.usefixtures("sshd")
def test_what_is_missing_is_said_before_anything_is_measured(
    served: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def why(host: str, url: str | None) -> str:
        request = ConnectionOptions(destination=Endpoint(host), server_url=url)
        with pytest.raises(ValueError) as caught:  # noqa: PT011 — the sentence is what is returned
            asyncio.run(informed(PLUGIN, request, "/t", str(served.served)))
        return str(caught.value)

    assert "needs the source's server" in why("localhost", None)
    assert "no port from 1 to 65535" in why("localhost", "http://127.0.0.1:99999")
    served.process.terminate()
    served.process.wait()
    assert "nothing listens on port" in why("localhost", served.url)
    with web_server(tmp_path / "served", port=served.port):
        assert "without a password" in why("nobody.invalid", served.url)


def test_the_transfer_engine_does_not_take_it() -> None:
    assert "aria2c" not in traits.movers()
    assert "aria2c" in traits.profiled_tools()


# --- the line ---


def the_line(server: WebServer, target: Path, dataset: Dataset, source: Path) -> Command:
    request = a_command_request(
        subject="aria2c",
        settings={"aria2c": USUAL},
        source_path=str(source),
        destination_path=str(target),
        destination_host="localhost",
        dataset=dataset,
        path=LOOPBACK,
    )
    request = msgspec.structs.replace(
        request, server_url=f"{server.url}{str(source)[len(str(server.served)) :]}"
    )
    [command] = PLUGIN.commands(request)
    return command


@pytest.mark.usefixtures("sshd")
def test_the_line_brings_a_directory_and_completes_it_when_run_again(
    served: WebServer, tmp_path: Path
) -> None:
    target = tmp_path / "new place"
    for name in (*ODD_NAMES, "sub dir/below"):
        pieces_of(served, target, f"run42/{name}", size=3000)
    pieces_of(served, target, "run42/large", size=5_000_000)
    (served.served / "run42" / "empty").touch()
    dataset = Dataset(total_bytes=10**7, files=20, largest="large", largest_bytes=5_000_000)
    command = the_line(served, target, dataset, served.served / "run42")
    assert command.side == "source"
    for _ in range(2):
        done = subprocess.run(command.shell, shell=True, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert not difference(served.served / "run42", target)
    (target / "large").unlink()
    assert (
        subprocess.run(command.shell, shell=True, capture_output=True, check=False).returncode == 0
    )
    assert not difference(served.served / "run42", target)


@pytest.mark.usefixtures("sshd")
def test_nothing_is_fetched_where_a_folder_cannot_be_read(
    served: WebServer, tmp_path: Path
) -> None:
    pieces_of(served, tmp_path / "new", "run/one", "run/two")
    dataset = Dataset(total_bytes=2 * 10**5, files=2, largest="one", largest_bytes=10**5)
    command = the_line(served, tmp_path / "new", dataset, served.served / "run")
    done = subprocess.run(
        command.shell, shell=True, env=find_that_fails(tmp_path), capture_output=True, check=False
    )
    assert done.returncode
    assert not (tmp_path / "new").exists()


@pytest.mark.usefixtures("sshd")
@pytest.mark.parametrize("name", ["x\n../beside", "x\n  dir=..", "x\n/beside"])
def test_a_name_of_two_lines_is_no_other_file(served: WebServer, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "deep" / "new"
    pieces_of(served, folder, "run/one", "beside")
    odd = served.served / "run" / name
    odd.parent.mkdir(parents=True, exist_ok=True)
    odd.write_bytes(b"x")
    dataset = Dataset(total_bytes=10**5, files=2, largest="one", largest_bytes=10**5)
    command = the_line(served, folder, dataset, served.served / "run")
    done = subprocess.run(command.shell, shell=True, capture_output=True, check=False)
    assert done.returncode
    assert [one.name for one in (tmp_path / "deep").rglob("*")] == ["new", "one"]


def test_one_file_is_fetched_at_the_destination(tmp_path: Path) -> None:
    server = WebServer(tmp_path, "http://192.0.2.1:8000/run", 8000, None)
    command = the_line(server, Path("/store/x"), Dataset(total_bytes=10, files=1), tmp_path)
    assert command.side == "destination"
    assert command.argv == [
        *("aria2c", "-x", "2", "-s", "2", "-k", "1M", "--file-allocation", "falloc"),
        *("-d", "/", "-o", "/store/x", "http://192.0.2.1:8000/run"),
    ]


def test_a_step_says_from_where_the_data_come() -> None:
    piece = Piece(source="/data/x", target="/store/x", size_bytes=1)
    [step] = PLUGIN.steps(order_of(USUAL, piece))
    assert isinstance(step, Step)
    assert step.fetched_from is not None
    assert step.fetched_from.port == 8080
