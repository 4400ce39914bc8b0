import asyncio
import os
import shutil
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from advisor import registry
from advisor.domain.advice import Command
from advisor.domain.dataset import Dataset
from advisor.hosts.free_ports import free_run
from advisor.hosts.processes import running
from advisor.testing.samples import a_path
from advisor.testing.tools import a_command_request

PLUGIN = registry.tool("rclone")
REMOTE = ":sftp,host=dtn.example.org,known_hosts_file=~/.ssh/known_hosts:"
LINE_S = 30.0


def the_line(**changes: object) -> Command:
    (command,) = PLUGIN.commands(a_command_request(**changes))
    return command


def shares(command: Command) -> tuple[int, int]:
    argv = command.argv
    return tuple(  # type: ignore[return-value]  # of the two there are
        int(argv[argv.index(flag) + 1]) for flag in ("--transfers", "--multi-thread-streams")
    )


def a_directory(files: int) -> Dataset:
    return Dataset(total_bytes=10**9, files=files, largest="a", largest_bytes=10**8)


# --- what is written ---


def test_one_file_goes_in_parts() -> None:
    command = the_line(source_path="/data/run 7.h5", destination_path="/store/it's.h5")
    assert command.side == "source"
    assert command.argv == [
        *["rclone", "copyto", "--progress", "--transfers", "1"],
        *["--multi-thread-streams", "8", "--multi-thread-cutoff", "64M"],
        "/data/run 7.h5",
        f"{REMOTE}/store/it's.h5",
    ]
    assert "--sftp-disable-multithread-upload" in command.note
    assert (
        "run this on the destination: `rclone copyto --progress --transfers 1 "
        "--multi-thread-streams 8 --multi-thread-cutoff 64M "
        "':sftp,host=192.0.2.1,known_hosts_file=~/.ssh/known_hosts:/data/run 7.h5' "
        "'/store/it'\"'\"'s.h5'`."
    ) in command.note


def test_the_line_for_the_destination_is_bound_to_no_address_of_the_source() -> None:
    command = the_line(path=a_path(chose_source=True))
    assert command.argv[command.argv.index("--bind") + 1] == "192.0.2.1"
    assert "run this on the destination: `rclone copyto " in command.note
    assert "--bind" not in command.note


def test_a_store_that_was_named_is_where_the_line_goes() -> None:
    command = the_line(
        source_path="/d",
        destination_path="/s",
        dataset=a_directory(3),
        server_url="mine:bucket/run",
    )
    assert command.argv == [
        *["rclone", "copyto", "--progress", "--transfers", "3", "--s3-upload-concurrency", "2"],
        *["--s3-chunk-size", "5M", "--s3-upload-cutoff", "5M", "--multi-thread-streams", "0"],
        *["/d/", "mine:bucket/run"],
    ]
    assert "SFTP" not in command.note
    assert "ssh" not in command.note


def test_a_place_in_a_store_that_was_not_said_is_a_placeholder() -> None:
    command = the_line(source_path="/d/f", server_url="mine:bucket")
    assert command.argv[-1] == "mine:bucket/DESTINATION_PATH"
    assert "Replace DESTINATION_PATH with the real path." in command.note


@pytest.mark.parametrize("url", ["ssh://me@x:2222", "gsiftp://x", "s3://bucket", "http://x/f"])
def test_another_tools_server_is_none_of_its_own(url: str) -> None:
    assert the_line(server_url=url) == the_line()


def test_one_stream_is_one_connection() -> None:
    command = the_line(settings={"tcp": {"streams": 1, "buffer_bytes": 0, "congestion": "cubic"}})
    assert shares(command) == (1, 0)
    assert "--multi-thread-cutoff" not in command.argv
    assert "on the destination" not in command.note


@pytest.mark.parametrize(
    ("files", "expected"), [(1000, (8, 0)), (8, (8, 0)), (5, (5, 0)), (3, (3, 2)), (2, (2, 4))]
)
def test_the_files_of_a_directory_go_side_by_side(files: int, expected: tuple[int, int]) -> None:
    command = the_line(source_path="/d", destination_path="/s/d", dataset=a_directory(files))
    assert shares(command) == expected
    assert command.argv[-2:] == ["/d/", f"{REMOTE}/s/d"]


def test_an_ipv6_address_is_in_brackets_and_quoted_for_rclone() -> None:
    """It appends the port as it is."""
    assert ':sftp,host="[2001:db8::1]",' in the_line(destination_host="2001:db8::1").argv[-1]


def test_what_sshs_window_allows_is_reported() -> None:
    """8 connections × 2 MiB each round trip."""
    assert "at most 2.94 Gbit/s" in the_line(path=a_path(rtt_s=0.0456)).note
    assert "SSH has at most" not in the_line(path=a_path(rtt_s=0.001)).note


# --- what the lines do ---


async def said_by(*argv: str) -> str:
    async with asyncio.timeout(LINE_S), running(list(argv)) as child:
        output = await child.stdout.read()
        assert await child.wait() == 0, child.stderr.decode(errors="replace")
        return output.decode()


@asynccontextmanager
async def sftp_server(home: Path, served: Path) -> AsyncIterator[list[str]]:
    """An SFTP server of rclone's own; what the environment of a line must have to reach it."""
    key, port = home / "host_key", free_run(1, (0, 0), socket.AF_INET)
    await said_by("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key))
    kind, public, *_ = key.with_suffix(".pub").read_text().split()
    (home / ".ssh").mkdir()
    (home / ".ssh" / "known_hosts").write_text(f"[127.0.0.1]:{port} {kind} {public}\n")
    obscured = (await said_by("rclone", "obscure", "secret")).strip()
    serve = f"rclone serve sftp --addr 127.0.0.1:{port} --user me --pass secret --key".split()
    async with running(["env", f"HOME={home}", *serve, str(key), str(served)]):
        await answers(port)
        yield [
            f"HOME={home}",
            f"RCLONE_SFTP_PORT={port}",
            "RCLONE_SFTP_USER=me",
            f"RCLONE_SFTP_PASS={obscured}",
            # This server takes a file from its beginning to its end alone.
            "RCLONE_SFTP_DISABLE_CONCURRENT_WRITES=true",
        ]


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


@pytest.fixture
def programs() -> None:
    for program, package in (("rclone", "rclone"), ("ssh-keygen", "openssh-client")):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is absent: apt install {package}")


def put(home: Path, **changes: object) -> dict[str, bytes]:
    """Runs the line; what came to the server, by its path."""
    served = home / "served"
    served.mkdir()

    async def scenario() -> None:
        async with sftp_server(home, served) as environment:
            command = the_line(destination_host="127.0.0.1", **changes)
            await said_by("env", *environment, "sh", "-c", command.shell)

    asyncio.run(scenario())
    files = (p for p in served.rglob("*") if p.is_file())
    return {str(p.relative_to(served)): p.read_bytes() for p in files}


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("name", ["a b", "it's", 'q"x', "50%", "$HOME`x`", "c:d,e=f", "mésure"])
def test_a_file_comes_to_the_name_that_was_said(tmp_path: Path, name: str) -> None:
    content = os.urandom(2**20 + 17)
    (tmp_path / name).write_bytes(content)
    got = put(tmp_path, source_path=str(tmp_path / name), destination_path=f"/deep/{name}")
    assert got == {f"deep/{name}": content}


@pytest.mark.usefixtures("programs")
def test_a_directory_comes_with_what_is_below(tmp_path: Path) -> None:
    source = tmp_path / "the tree"
    (source / "sub dir").mkdir(parents=True)
    for number in range(12):
        (source / "sub dir" / f"f {number}").write_bytes(os.urandom(1000 + number))
    got = put(
        tmp_path, source_path=str(source), destination_path="/new", dataset=a_directory(files=12)
    )
    assert got == {
        f"new/{p.relative_to(source)}": p.read_bytes() for p in source.rglob("*") if p.is_file()
    }
