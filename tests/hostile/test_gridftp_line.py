"""What a stranger can do with a GridFTP server that was started with the printed line."""

import os
import pwd
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from plugins.tools.globus_url_copy.servers import anonymous_server
from tests.plugins.tools.gridftp_lines import a_directory, a_request, require, the_line

LONG_S = 20.0


def _servers(note: str) -> list[list[str]]:
    """The commands of a note that start a server which listens."""
    words = [shlex.split(command) for command in re.findall(r"`([^`]+)`", note)]
    return [argv for argv in words if "globus-gridftp-server" in argv]


@pytest.mark.parametrize("subject", ["tcp", "udt"])
@pytest.mark.parametrize("several", [False, True])
def test_a_printed_server_keeps_to_the_target(subject: str, several: bool) -> None:
    dataset = a_directory(1, 2) if several else None
    request = a_request(subject=subject, destination_path="/store/run 7", dataset=dataset)
    (server,) = _servers(the_line(request).note)
    target = "/store/run 7" if request.is_directory else "/store"
    assert server[server.index("-restrict-paths") + 1] == f"RW{target},RW/dev/null"
    # By prefix: 192.0.2.1 would admit 192.0.2.10.
    assert "-allow-from" not in server


def test_the_line_itself_needs_no_server_that_listens() -> None:
    assert the_line(a_request()).argv[-1].startswith("sshftp://dtn2.example.org/")
    udt = the_line(a_request(subject="udt"))
    assert udt.argv[-1].startswith("gsiftp://dtn2.example.org:2811/")
    assert "anonymous" not in udt.note


def test_an_anonymous_server_has_its_risk_and_a_firewall_beside_it() -> None:
    note = the_line(a_request()).note
    assert "asks nobody for a password" in note
    firewall = shlex.split(next(c for c in re.findall(r"`([^`]+)`", note) if "iptables" in c))
    assert firewall[firewall.index("--source") - 1 :][:2] == ["!", "--source"]
    assert firewall[firewall.index("--source") + 1] == "192.0.2.1"
    assert firewall[-2:] == ["--jump", "REJECT"]
    assert note.index("iptables") < note.index("-anonymous-user")


@pytest.mark.parametrize("name", ["/a,RW/", "/", "relative", "", "/a*", "/~root/x"])
def test_a_target_that_the_server_would_take_for_more_is_left_to_the_reader(name: str) -> None:
    request = a_request(destination_path=name, dataset=a_directory(1, 2))
    argv = anonymous_server(request)
    assert argv[argv.index("-restrict-paths") + 1] == "RW/DESTINATION_FOLDER,RW/dev/null"


def test_what_is_printed_is_quoted() -> None:
    request = a_request(destination_path="/store/$(id); x/f")
    (server,) = _servers(the_line(request).note)
    assert server[server.index("-restrict-paths") + 1] == "RW/store/$(id); x,RW/dev/null"


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that the server's account may write in, and one beside it too."""
    with tempfile.TemporaryDirectory(prefix="gridftp-") as name:
        base = Path(name)
        base.chmod(0o711)
        for part in ("offered", "offered too"):
            (base / part).mkdir()
            if os.geteuid() == 0:
                nobody = pwd.getpwnam("nobody")
                os.chown(base / part, nobody.pw_uid, nobody.pw_gid)
        yield base


def test_a_stranger_gets_no_further_than_the_target(folder: Path) -> None:
    require("globus-gridftp-server", "globus-url-copy")
    source = folder / "source"
    source.write_bytes(b"x" * 100_000)
    secret = folder / "offered too" / "secret"
    secret.write_bytes(b"secret")
    secret.chmod(0o644)
    argv = anonymous_server(a_request(destination_path=f"{folder}/offered/new"))
    argv[argv.index("-p") + 1] = "0"
    argv[argv.index("-hostname") + 1] = "127.0.0.1"
    if os.geteuid() != 0:
        argv = argv[: argv.index("-anonymous-user")]
    with subprocess.Popen(
        [*argv, "-control-interface", "127.0.0.1"], stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout
            port = server.stdout.readline().strip().rpartition(":")[2]
            url = f"ftp://127.0.0.1:{port}{folder}"
            assert _copied(f"file://{source}", f"{url}/offered/new")
            assert (folder / "offered" / "new").read_bytes() == source.read_bytes()
            assert not _copied(f"file://{source}", f"{url}/offered%20too/new")
            assert not _copied(f"file://{source}", f"{url}/offered/../offered%20too/new")
            assert not _copied(f"{url}/offered%20too/secret", f"file://{folder}/stolen")
            assert not _copied(f"file://{source}", f"ftp://127.0.0.1:{port}/tmp/gridftp-new")
        finally:
            server.kill()
    assert [one.name for one in (folder / "offered too").iterdir()] == ["secret"]


def _copied(source: str, target: str) -> bool:
    program = shutil.which("globus-url-copy")
    assert program
    done = subprocess.run(
        [program, source, target], capture_output=True, timeout=LONG_S, check=False
    )
    return done.returncode == 0
