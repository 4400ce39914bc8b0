"""What aria2c's errors mean. Provoked with 1.36.0 against `rclone serve http`."""

import re
from typing import Final

from advisor.api.tool import ToolTrouble
from advisor.api.troubles import MOST_SHOWN, TroubleCase, trouble_of_run
from advisor.api.values import FailureKind

_TOO_MUCH: Final = re.compile(r"status=(?:429|503)")
_WHY: Final = re.compile(r"errorCode=\d+ (?P<why>.+)")
_CASES: Final = (
    TroubleCase(
        r"Authorization failed|status=(?:401|403|407)",
        FailureKind.NO_ACCESS,
        "The web server does not let aria2c read the files: allow the destination to read them, or "
        "use another tool.",
    ),
    TroubleCase(
        r"Resource not found|status=404",
        FailureKind.NO_ACCESS,
        "The web server has no such file: --server must name the place at which it serves what "
        "--data names.",
    ),
    TroubleCase(
        r"Failed to establish connection|Failed to connect",
        FailureKind.REFUSED,
        "The destination cannot connect to the web server here: check that it listens at the "
        "address of --server, and the firewall between.",
    ),
    TroubleCase(
        r"Name resolution for (?P<host>\S+) failed",
        FailureKind.REFUSED,
        "The destination cannot resolve {host}: name the web server by its address.",
    ),
    TroubleCase(
        r"No space left on device|Disk quota exceeded|not enough disk space",
        FailureKind.DISK_FULL,
        "The destination's disk is full: free space there, or choose another target.",
    ),
    TroubleCase(
        r"SSL/TLS handshake failure|certificate",
        FailureKind.NO_ACCESS,
        "The destination does not accept the web server's certificate: install that of its "
        "authority there, or use http://.",
    ),
    TroubleCase(
        r"fallocate failed|file allocation",
        FailureKind.REJECTED_SETTING,
        "The destination's file system cannot reserve space: choose a folder on another one.",
    ),
    TroubleCase(
        r"Failed to (?:make the directory|open the file) [^\n]*?cause: Permission denied",
        FailureKind.NO_ACCESS,
        "The account that ssh logs in to may not write there: choose another target.",
    ),
    TroubleCase(
        r"Permission denied \(|Host key verification failed|Could not resolve hostname"
        r"|ssh: connect to host",
        FailureKind.NO_ACCESS,
        "ssh cannot log in to the destination: run it by hand until it asks for nothing.",
    ),
    TroubleCase(
        r"aria2c: [^\n]*not found",
        FailureKind.NO_ACCESS,
        "aria2c is not installed at the destination: install it there, or use another tool.",
    ),
    TroubleCase(
        r"Got EOF|network problem|Connection reset|Connection closed by|client_loop",
        FailureKind.RESET,
        "The connection was lost: try again.",
    ),
)


def trouble_of(status: int, output: str, errors: str) -> ToolTrouble | None:
    """What went wrong, by the exit status and what was printed; None for status 0."""
    text = f"{output}\n{errors}"
    whys = _WHY.findall(text)
    said = [*errors.split("\n"), *whys]
    return trouble_of_run(
        "aria2c",
        status,
        _CASES,
        text,
        said=next((line.strip() for line in reversed(said) if line.strip()), ""),
        refusal=refusal_of(output, errors),
    )


def refusal_of(output: str, errors: str) -> str:
    """Why the server refused some of the connections; "" if it did not."""
    if not (found := _TOO_MUCH.search(f"{output}\n{errors}")):
        return ""
    return f"the web server refuses as many connections ({found[0][:MOST_SHOWN]})"
