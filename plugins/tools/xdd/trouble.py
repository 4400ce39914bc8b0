"""What xdd's errors mean, on either side.

All were provoked with 7.0.0.rc, but for the last three and that of a file system without direct
I/O.

The message that it was not compiled with XFS_ENABLED looks like an error and is none.
"""

import re
import signal
from typing import Final

from advisor.api.tool import ToolTrouble
from advisor.api.troubles import TroubleCase, first_trouble
from advisor.api.values import FailureKind

WHERE_TO_GET_IT: Final = "https://github.com/bws/xdd"
_OPEN: Final = r"Could not (?:open|stat) target number \d+ name (?P<path>.*)\nreason: "
_BIND: Final = r"Error binding name to socket .* specified as (?P<port>\d+) *\n Reason: "
_CONNECT: Final = r"error connecting to socket for E2E destination\n Reason: "
_IO: Final = r"I/O ERROR on .*\nreason: "
_TIMED_OUT: Final = 124
_NOT_FOUND: Final = 127


_CASES: Final = (
    TroubleCase(
        r"reason: (?:No space left on device|Disk quota exceeded)",
        FailureKind.DISK_FULL,
        "The destination disk is full: free space there, or choose a target on another disk.",
    ),
    TroubleCase(
        _OPEN + "Permission denied",
        FailureKind.NO_ACCESS,
        "xdd has no permission to open {path}: run it as a user who has, or choose another path.",
    ),
    TroubleCase(
        _OPEN + "No such file or directory",
        FailureKind.NO_ACCESS,
        "{path} or its folder does not exist: create the folder, or correct the path.",
    ),
    TroubleCase(
        _OPEN + "Invalid argument",
        FailureKind.REJECTED_SETTING,
        "xdd cannot open {path} for direct I/O, which its file system lacks: omit -dio.",
    ),
    TroubleCase(
        _OPEN + "(?P<why>.*)",
        FailureKind.NO_ACCESS,
        "xdd cannot open {path} ({why}): choose another path.",
    ),
    TroubleCase(
        _BIND + "Cannot assign requested address",
        FailureKind.REFUSED,
        "The destination cannot listen on the address given, which is not its own, as "
        "behind NAT: give its own address.",
    ),
    TroubleCase(
        _BIND + "Address already in use",
        FailureKind.BUSY,
        "Another program uses port {port} at the destination: end it, or choose other ports.",
    ),
    TroubleCase(
        r"unable to identify host '(?P<host>.*)'",
        FailureKind.REFUSED,
        "{host} has no IPv4 address that is known here: give the host's address.",
    ),
    TroubleCase(
        _CONNECT + "Connection refused",
        FailureKind.REFUSED,
        "xdd does not listen at the destination: check that it started there, and that the "
        "firewall allows its ports.",
    ),
    TroubleCase(
        r"END-OF-FILE Reached during READ",
        FailureKind.FILES_CHANGED,
        "The source file has become shorter: run the advisor again when nothing changes it.",
    ),
    TroubleCase(
        _IO + "Bad file descriptor",
        FailureKind.REJECTED_SETTING,
        "xdd lost its file, as it does with -dio and requests that are no multiple of 4096: omit "
        "-dio, or correct -reqsize.",
    ),
    TroubleCase(
        r"Connection closed prematurely by Source",
        FailureKind.PEER_GONE,
        "The source's xdd ended during the transfer: run both again.",
    ),
    TroubleCase(
        r"Invalid option: .*'(?P<word>.*)'",
        FailureKind.REJECTED_SETTING,
        f"xdd does not know {{word}}: build version 7 from {WHERE_TO_GET_IT}.",
    ),
    TroubleCase(
        r"^(?P<program>\S*xdd): (?:ERROR|Error): ?(?P<why>.*)",
        FailureKind.REJECTED_SETTING,
        "xdd rejects its command line ({why}): check the values of its options.",
    ),
    TroubleCase(
        _CONNECT + "Connection timed out",
        FailureKind.TIMED_OUT,
        "The destination did not answer: allow its ports in the firewalls.",
    ),
    TroubleCase(
        _CONNECT + "(?P<why>.*)",
        FailureKind.REFUSED,
        "No route to the destination ({why}): check the routes and firewalls in between.",
    ),
    TroubleCase(
        _IO + "(?P<why>.*)",
        FailureKind.CRASHED,
        "xdd could not read or write its file ({why}): check the kernel's messages about the disk.",
    ),
)

_RESET: Final = re.compile(r"Reason: (?:Connection reset by peer|Broken pipe)")
_CAUGHT: Final = re.compile(r"Received signal (\d+):")


def trouble_of(status: int, errors: str) -> ToolTrouble | None:
    """What went wrong, by exit status and standard error; None when the status is 0."""
    if status == 0:
        return None
    if status == _TIMED_OUT:
        message = "xdd did not end in time: check that the path and both disks still work."
        return ToolTrouble(FailureKind.TIMED_OUT, message)
    if status == _NOT_FOUND:
        message = f"xdd is not installed there: build it on both hosts from {WHERE_TO_GET_IT}."
        return ToolTrouble(FailureKind.NO_ACCESS, message)
    text = errors.replace("\r", "")
    if trouble := first_trouble(_CASES, text):
        return trouble
    return _unknown(status, text)


def _unknown(status: int, text: str) -> ToolTrouble:
    """The sentence for an unknown failure. Shells report a signal as 128 plus its number."""
    caught = _CAUGHT.search(text)
    number = int(caught.group(1)) if caught else -status if status < 0 else status - 128
    if number == signal.SIGPIPE or _RESET.search(text):
        message = "The destination's xdd ended too early: check its output there."
        return ToolTrouble(FailureKind.RESET, message)
    if number == signal.SIGSEGV:
        message = "xdd crashed, as it does on very long paths: use shorter ones."
        return ToolTrouble(FailureKind.CRASHED, message)
    if number > 0:
        message = f"xdd was ended by signal {number}: run both sides again."
        return ToolTrouble(FailureKind.CRASHED, message)
    said = [line.strip() for line in text.splitlines() if line.startswith("xdd: ")]
    last = said[-1].removeprefix("xdd: ").rstrip(".") if said else f"status {status}"
    return ToolTrouble(FailureKind.CRASHED, f"xdd failed ({last}): run its lines by hand.")
