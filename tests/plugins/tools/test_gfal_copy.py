import contextlib
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from advisor import registry
from advisor.domain.advice import Command
from advisor.domain.dataset import Dataset
from advisor.hosts.free_ports import free_run
from advisor.testing.samples import a_path
from advisor.testing.tools import a_command_request
from tests.benchmarks.disk.files import difference
from tests.xrootd_server import XrootdServer, xrootd_server

PLUGIN = registry.tool("gfal-copy")
LINE_S = 60.0
MANY = Dataset(total_bytes=10**6, files=1000, largest="a", largest_bytes=10**3)
TLS = """
xrd.protocol http:{port} libXrdHttp.so
xrd.tls {cert} {key}
xrd.tlsca certfile {cert}
http.httpsmode manual
http.cert {cert}
http.key {key}
http.cafile {cert}
http.exthandler xrdtpc libXrdHttpTPC.so
"""


def the_line(**changes: object) -> Command:
    (command,) = PLUGIN.commands(a_command_request(**changes))
    return command


# --- what is written ---


def test_one_file_is_fetched_over_streams() -> None:
    command = the_line(source_path="/data/run 7.h5", destination_path="/store/it's.h5")
    assert command.side == "source"
    assert command.argv == [
        *["gfal-copy", "-p", "-n", "8", "--copy-mode", "pull", "-t", "604800", "-T", "604800"],
        "davs://192.0.2.1:1094/data/run%207.h5",
        "davs://dtn.example.org:1094/store/it%27s.h5",
    ]
    assert "HTTP-TPC" in command.note
    assert "BEARER_TOKEN" in command.note


def test_a_directory_ends_at_the_first_failure() -> None:
    command = the_line(source_path="/data/run", destination_path="/store/run", dataset=MANY)
    assert command.argv[-4:-2] == ["-r", "--abort-on-failure"]
    assert "one file after another" in command.note
    assert "one file after another" not in the_line(source_path="/data/f").note


# --- what the lines do ---


@contextlib.contextmanager
def web_server(folder: Path, served: str) -> Iterator[XrootdServer]:
    """Serves it over WebDAV, with the certificate in `folder`, and copies by itself."""
    port = free_run(1, (0, 0), socket.AF_INET)
    lines = TLS.format(port=port, cert=folder / "cert", key=folder / "key")
    with xrootd_server(folder / served, lines, port=port) as server:
        yield server


@pytest.fixture(scope="module")
def servers(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[XrootdServer, XrootdServer]]:
    """Where the files are, and where they go."""
    if shutil.which("gfal-copy") is None:
        pytest.skip("gfal-copy is absent: apt install gfal2-util-scripts gfal2-plugin-http")
    folder = tmp_path_factory.mktemp("servers")
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    make += ["-nodes", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    make += ["-keyout", str(folder / "key"), "-out", str(folder / "cert")]
    subprocess.run(make, check=True, capture_output=True)
    with web_server(folder, "here") as one, web_server(folder, "there") as other:
        yield one, other


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of gfal-copy, which trusts no other authorities than those of /etc/grid-security."""
    (tmp_path / "http.conf").write_text("[HTTP PLUGIN]\nINSECURE=true\n")
    monkeypatch.setenv("GFAL_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("BEARER_TOKEN", "anybody")
    # Its modules are those of the system's Python.
    monkeypatch.setenv("GFAL_PYTHONBIN", "/usr/bin/python3")


def copied(
    servers: tuple[XrootdServer, XrootdServer], name: str, **changes: object
) -> subprocess.CompletedProcess[str]:
    source, target = (server.served / name for server in servers)
    command = the_line(
        path=a_path(source_address="127.0.0.1"),
        destination_host="127.0.0.1",
        source_path=str(source),
        destination_path=str(target),
        **changes,
    )
    line = command.shell
    for server in servers:
        line = line.replace(":1094/", f":{server.port}/", 1)
    return subprocess.run(
        ["sh", "-c", line], capture_output=True, text=True, timeout=LINE_S, check=False
    )


@pytest.mark.parametrize("name", ["plain", "a b", "it's", 'q"x', "50%", "$HOME`x`", "mésure"])
def test_a_file_is_copied_by_the_servers(
    servers: tuple[XrootdServer, XrootdServer], name: str
) -> None:
    source, target = (server.served / name for server in servers)
    source.write_bytes(os.urandom(3_000_000))
    done = copied(servers, name)
    assert done.returncode == 0, done.stderr
    assert target.read_bytes() == source.read_bytes()
    again = copied(servers, name)
    assert again.returncode == 17, "what is there is not replaced"


def test_a_directory_is_copied_or_the_line_fails(
    servers: tuple[XrootdServer, XrootdServer],
) -> None:
    source, target = (server.served / "run" for server in servers)
    (source / "deep" / "er").mkdir(parents=True)
    for number in range(3):
        (source / "deep" / "er" / f"f{number}").write_bytes(os.urandom(1000 + number))
    done = copied(servers, "run", dataset=MANY)
    assert done.returncode == 0, done.stderr
    assert not difference(source, target)
    (source / "a b").write_bytes(b"x")
    shutil.rmtree(target)
    assert copied(servers, "run", dataset=MANY).returncode != 0


def test_a_server_that_does_not_fetch_is_not_helped(
    servers: tuple[XrootdServer, XrootdServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a token it wants delegation, which the server has not; nothing goes through here."""
    source, target = (server.served / "alone" for server in servers)
    source.write_bytes(b"x" * 1000)
    monkeypatch.delenv("BEARER_TOKEN")
    assert copied(servers, "alone").returncode != 0
    assert not target.exists()
