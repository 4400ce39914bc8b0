"""What is said of globus-url-copy's errors, recorded from version 10.12 and some provoked again."""

import asyncio
import os
from pathlib import Path

import pytest

from advisor.api.tool import ToolTrouble
from advisor.domain.measurement import FailureKind
from advisor.testing.gridftp import GridFTPServer, anonymous_server
from tests.plugins.tools.gridftp_lines import PLUGIN, a_request, require, run, the_line

ANSWER = "\nerror: globus_ftp_client: the server responded with an error\n"


def refused_to_open(path: str, why: str) -> str:
    return (
        f"{ANSWER}500 500-Command failed. : globus_l_gfs_file_open failed.\r\n"
        f"500-globus_xio: Unable to open file {path}\r\n"
        f"500-globus_xio: System error in open: {why}\r\n"
        f"500-globus_xio: A system call failed: {why}\r\n500 End.\r\n\n"
    )


def not_opened_here(path: str, why: str) -> str:
    return (
        f"\nerror: globus_xio: Unable to open file {path}\n"
        f"globus_xio: System error in open: {why}\n"
        f"globus_xio: A system call failed: {why}\n"
    )


NO_ROOM = (
    f"{ANSWER}500 500-Command failed. : callback failed.\r\n"
    "500-globus_xio: System error in write: No space left on device\r\n"
    "500-globus_xio: A system call failed: No space left on device\r\n500 End.\r\n\n"
)
NOTHING_LISTENS = (
    "\nerror: globus_xio: Unable to connect to 127.0.0.1:9\n"
    "globus_xio: System error in connect: Connection refused\n"
    "globus_xio: A system call failed: Connection refused\n"
)
NO_ROUTE = (
    "\nerror: globus_xio: Unable to connect to 203.0.113.7:2811\n"
    "globus_xio: globus_xio_system_socket_register_connect failed.\n"
    "globus_xio: System error in connect: No route to host\n"
    "globus_xio: A system call failed: No route to host\n"
)
NO_NAME = (
    "\nerror: globus_xio: Unable to connect to no-such-host.invalid:2811\n"
    "globus_xio: globus_libc_getaddrinfo failed.\nglobus_common: Name or service not known\n"
)
NO_CERTIFICATE_THERE = (
    f"{ANSWER}530 530-globus_xio: Server side credential failure\r\n530-GSS failure: \r\n"
    "530-GSS Major Status: General failure\r\n530-GSS Minor Status Error Chain:\r\n"
    "530-globus_gsi_gssapi: Error with GSI credential\r\n"
    "530-globus_gsi_gssapi: Error with gss credential handle\r\n"
    "530-globus_credential: Valid credentials could not be found in any of the possible locations "
    "specified by the credential search order.\r\n"
)
NO_CERTIFICATE_HERE = (
    "\nerror: globus_ftp_control: gss_init_sec_context failed\nGSS failure: \n"
    "GSS Major Status: General failure\nGSS Minor Status Error Chain:\n"
    "globus_gsi_gssapi: Error with gss context\n"
    "globus_gsi_gssapi: Error with gss credential handle\n"
    "globus_credential: Valid credentials could not be found in any of the possible locations "
    "specified by the credential search order.\n"
)
NO_UDT = (
    f"{ANSWER}500 500-Setting data channel driver stack failed.\r\n"
    "500-globus_xio: Bad parameter, udt driver not whitelisted\r\n500 End.\r\n\n"
)
OTHER_CHECKSUM = (
    "\nerror: [globus_l_gass_copy_verify_cksm]: checksum verification failure for "
    "'ftp://127.0.0.1:33183/store/c':\n\tgot '24fde430fa89bfcf313e12ae1b5ab44f',\n"
    "\texpected 'f1ba5dc22e96ec3794ddfc381cbfb0d2'\n"
)
FULL_HOUSE = (
    f"{ANSWER}421 Service busy: Connection limit exceeded. Please try again later. Closing control "
    "connection.\r\n\n"
)
NO_SUCH_OPTION = (
    "\nError, argument #1 (-nonsense) : unknown option\n\n"
    "Syntax : globus-url-copy [-help] [-vb] [-dbg] [-r] [-rst] [-s <subject>]\n"
)
SERVER_KILLED = "\nerror: an end-of-file was reached\nglobus_xio: An end of file occurred\n"
RESET = (
    "\nerror: globus_xio: System error in recv: Connection reset by peer\n"
    "globus_xio: A system call failed: Connection reset by peer\n"
)
GONE, DENIED = "No such file or directory", "Permission denied"

RECORDED = [
    (1, NOTHING_LISTENS, FailureKind.REFUSED, "127.0.0.1:9"),
    (1, NO_ROUTE, FailureKind.REFUSED, "203.0.113.7:2811"),
    (1, NO_NAME, FailureKind.REFUSED, "no-such-host.invalid:2811"),
    (
        1,
        "\nerror: globus_l_ftp_control_read_cb: Error while searching for end of reply\n",
        FailureKind.REFUSED,
        "No GridFTP server",
    ),
    (1, NO_ROOM, FailureKind.DISK_FULL, "disk is full"),
    (
        1,
        refused_to_open("/store/a b", DENIED),
        FailureKind.NO_ACCESS,
        "has no permission to write /store/a b:",
    ),
    (
        1,
        refused_to_open("/store/not/there", GONE),
        FailureKind.NO_ACCESS,
        "/store/not/there (No such",
    ),
    (1, refused_to_open("/store/dir", "Is a directory"), FailureKind.NO_ACCESS, "Is a directory"),
    (
        1,
        not_opened_here("/data/no such", GONE),
        FailureKind.NO_ACCESS,
        "/data/no such no longer exists",
    ),
    (1, not_opened_here("/data/mine", DENIED), FailureKind.NO_ACCESS, "/data/mine cannot be read"),
    (
        1,
        "\nerror: globus_xio: System error in read: Is a directory\n"
        "globus_xio: A system call failed: Is a directory\n",
        FailureKind.NO_ACCESS,
        "A directory",
    ),
    (
        1,
        f"{ANSWER}500 Command failed. : Path not allowed.\r\n\n",
        FailureKind.NO_ACCESS,
        "does not offer",
    ),
    (
        1,
        f"{ANSWER}530 Must perform GSSAPI authentication.\r\n\n",
        FailureKind.NO_ACCESS,
        "gsiftp://",
    ),
    (
        1,
        f"{ANSWER}530 Login incorrect. : No anonymous user set.\r\n\n",
        FailureKind.NO_ACCESS,
        "-anonymous-user",
    ),
    (1, NO_CERTIFICATE_THERE, FailureKind.NO_ACCESS, "no host certificate"),
    (1, NO_CERTIFICATE_HERE, FailureKind.NO_ACCESS, "grid-proxy-init"),
    (1, NO_UDT, FailureKind.REJECTED_SETTING, "does not allow udt: "),
    (1, NO_SUCH_OPTION, FailureKind.REJECTED_SETTING, "-nonsense (unknown option)"),
    (1, "Problem parsing url list: line 2\n", FailureKind.REJECTED_SETTING, "too long"),
    (
        1,
        "\nerror: Unable to use checksum algorithm CRC32\n",
        FailureKind.REJECTED_SETTING,
        "CRC32",
    ),
    (1, OTHER_CHECKSUM, FailureKind.FILES_CHANGED, "ftp://127.0.0.1:33183/store/c is not"),
    (1, FULL_HOUSE, FailureKind.BUSY, "(Service busy)"),
    (1, SERVER_KILLED, FailureKind.PEER_GONE, "ended during"),
    (1, RESET, FailureKind.RESET, "was reset"),
    (
        1,
        "\nerror: globus_ftp_client: the operation was aborted\n",
        FailureKind.TIMED_OUT,
        "No data moved",
    ),
    (-11, "", FailureKind.CRASHED, "fewer files at a time"),
    (139, "", FailureKind.CRASHED, "fewer files at a time"),
    (-15, "", FailureKind.CRASHED, "signal 15"),
    (1, "", FailureKind.CRASHED, "without a message"),
    (1, "\nerror: something new.\nmore\n", FailureKind.CRASHED, "(something new)"),
]


@pytest.mark.parametrize(("status", "errors", "kind", "words"), RECORDED)
def test_recorded_errors(status: int, errors: str, kind: FailureKind, words: str) -> None:
    trouble = PLUGIN.trouble(status, "", errors)
    assert trouble is not None
    assert trouble.kind is kind
    assert words in trouble.message


def test_words_of_a_file_name_are_no_errors() -> None:
    name = "/data/No space left on device {0}"
    trouble = PLUGIN.trouble(1, "", not_opened_here(name, GONE))
    assert trouble == ToolTrouble(
        FailureKind.NO_ACCESS,
        f"{name} no longer exists: run the advisor again when nothing moves these files.",
    )


# --- provoked again ---


def trouble_with(source: Path, target: str, prepare: str = "") -> ToolTrouble | None:
    """Of a line that puts the source at the target, below what a server offers or as it is."""
    require("globus-gridftp-server", "globus-url-copy")

    async def scenario() -> tuple[int, str, str]:
        async with anonymous_server() as server:
            if prepare:
                (server.folder / prepare).mkdir(mode=0o555)
            return await put(server, source, target.format(folder=server.folder))

    return PLUGIN.trouble(*asyncio.run(scenario()))


async def put(server: GridFTPServer, source: Path, target: str) -> tuple[int, str, str]:
    own = {PLUGIN.name: {"concurrency": 1, "parallelism": 2}}
    request = a_request(
        settings=own, source_path=str(source), destination_path=target, server_url=server.url
    )
    return await run(server, the_line(request).argv)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source"
    path.write_bytes(b"x")
    return path


def test_a_source_that_is_gone(tmp_path: Path) -> None:
    trouble = trouble_with(tmp_path / "not there", "{folder}/x")
    assert trouble is not None
    assert f"{tmp_path}/not there no longer exists" in trouble.message


def test_a_folder_that_is_not_there(source: Path) -> None:
    trouble = trouble_with(source, "{folder}/not/there")
    assert trouble is not None
    assert trouble.kind is FailureKind.NO_ACCESS
    assert "not/there (No such file or directory)" in trouble.message


@pytest.mark.skipif(os.geteuid() != 0, reason="the server would work as the folder's owner")
def test_a_folder_that_may_not_be_written(source: Path) -> None:
    trouble = trouble_with(source, "{folder}/closed/x", prepare="closed")
    assert trouble is not None
    assert trouble.kind is FailureKind.NO_ACCESS
    assert "no permission to write" in trouble.message


def test_a_folder_that_is_not_offered(source: Path) -> None:
    trouble = trouble_with(source, "/x")
    assert trouble is not None
    assert "does not offer" in trouble.message


def test_a_server_that_is_not_there(source: Path) -> None:
    require("globus-gridftp-server", "globus-url-copy")

    async def scenario() -> tuple[int, str, str]:
        async with anonymous_server() as server:
            pass
        return await put(server, source, "/x")

    trouble = PLUGIN.trouble(*asyncio.run(scenario()))
    assert trouble is not None
    assert trouble.kind is FailureKind.REFUSED
    assert "127.0.0.1:" in trouble.message
