"""What globus-url-copy's errors mean.

Provoked with 10.12 and server 13.24, except for the texts of quotas, connection timeouts and broken
pipes, which are the system's own.
"""

from typing import Final

from advisor.api.tool import ToolTrouble
from advisor.api.troubles import TroubleCase, first_trouble
from advisor.api.values import FailureKind

_OPEN: Final = r"globus_xio: Unable to open file (?P<path>.*)\n.*System error in open: "
_CONNECT: Final = r"Unable to connect to (?P<host>\S+)\n(?:.*\n)*?.*"

_CASES: Final = (
    TroubleCase(
        r"System error in \w+: (?:No space left on device|Disk quota exceeded)",
        FailureKind.DISK_FULL,
        "The destination disk is full: free space there, or choose a target on another disk.",
    ),
    TroubleCase(
        "^500-" + _OPEN + "Permission denied",
        FailureKind.NO_ACCESS,
        "The GridFTP server has no permission to write {path}: grant it to its account, or "
        "choose another target.",
    ),
    TroubleCase(
        "^500-" + _OPEN + "(?P<why>.*)",
        FailureKind.NO_ACCESS,
        "The GridFTP server cannot open {path} ({why}): check that folder at the destination, or "
        "choose another target.",
    ),
    TroubleCase(
        "^(?:error: )?" + _OPEN + "No such file or directory",
        FailureKind.NO_ACCESS,
        "{path} no longer exists: run the advisor again when nothing moves these files.",
    ),
    TroubleCase(
        "^(?:error: )?" + _OPEN + "(?P<why>.*)",
        FailureKind.NO_ACCESS,
        "{path} cannot be read ({why}): run this as a user who may read it, or leave it out.",
    ),
    TroubleCase(
        r"System error in read: Is a directory",
        FailureKind.NO_ACCESS,
        "A directory has replaced a file: run the advisor again when nothing changes these files.",
    ),
    TroubleCase(
        r"Path not allowed",
        FailureKind.NO_ACCESS,
        "The GridFTP server does not offer the target's folder: choose a target within what it "
        "offers.",
    ),
    TroubleCase(
        r"^530 Must perform GSSAPI authentication",
        FailureKind.NO_ACCESS,
        "The GridFTP server requires a certificate: give it as gsiftp://HOST with --server, after "
        "grid-proxy-init.",
    ),
    TroubleCase(
        r"Server side credential failure",
        FailureKind.NO_ACCESS,
        "The GridFTP server has no host certificate for gsiftp://: have it installed there, or "
        "name the server as ftp://HOST where it lets anyone in.",
    ),
    TroubleCase(
        r"Valid credentials could not be found",
        FailureKind.NO_ACCESS,
        "You have no valid certificate on this host: get one with grid-proxy-init.",
    ),
    TroubleCase(
        r"^530[ -](?P<why>[^.\n]*)",
        FailureKind.NO_ACCESS,
        "The GridFTP server refused the login ({why}): for ftp:// it must be started with "
        "-aa -anonymous-user ACCOUNT.",
    ),
    TroubleCase(
        r"(?P<driver>\w+) driver not whitelisted",
        FailureKind.REJECTED_SETTING,
        "The GridFTP server does not allow {driver}: it must be started with "
        "-dc-whitelist udt,gsi,tcp.",
    ),
    TroubleCase(
        r"argument #\d+ \((?P<word>.*)\) : (?P<why>.*)",
        FailureKind.REJECTED_SETTING,
        "globus-url-copy does not accept {word} ({why}): version 10.12 or newer does.",
    ),
    TroubleCase(
        r"Unable to use checksum algorithm (?P<algorithm>\w+)",
        FailureKind.REJECTED_SETTING,
        "globus-url-copy cannot make {algorithm} checksums here: omit --verify and compare "
        "the files by other means.",
    ),
    TroubleCase(
        r"checksum verification failure for '(?P<url>.*)'",
        FailureKind.FILES_CHANGED,
        "{url} is not what its source is: it changed on the way or while it was read, so send it "
        "again.",
    ),
    TroubleCase(
        r"Problem parsing url list",
        FailureKind.REJECTED_SETTING,
        "A path is too long for the list of files: both URLs of a file may have 1000 characters "
        "together, so use folders with shorter names.",
    ),
    TroubleCase(
        r"^421 (?P<why>[^.:\r\n]*)",
        FailureKind.BUSY,
        "The GridFTP server accepts no more connections ({why}): try again later, or have its "
        "-connections-max raised.",
    ),
    TroubleCase(
        _CONNECT + "Connection refused",
        FailureKind.REFUSED,
        "Nothing answers at {host}: start a GridFTP server there, or say where it is with "
        "--server.",
    ),
    TroubleCase(
        _CONNECT + "Name or service not known",
        FailureKind.REFUSED,
        "The name in {host} is not known here: give the host's address, or correct the name.",
    ),
    TroubleCase(
        _CONNECT + "Connection timed out",
        FailureKind.TIMED_OUT,
        "{host} did not answer: have the firewalls let the GridFTP server's ports through.",
    ),
    TroubleCase(
        _CONNECT + "System error in connect: (?P<why>.*)",
        FailureKind.REFUSED,
        "No route to {host} ({why}): check the routes and firewalls in between.",
    ),
    TroubleCase(
        r"Error while searching for end of reply",
        FailureKind.REFUSED,
        "No GridFTP server answers there: give its address with --server.",
    ),
    TroubleCase(
        r"Connection reset by peer|Broken pipe",
        FailureKind.RESET,
        "The connection to the GridFTP server was reset: its log and the firewalls in between may "
        "say why.",
    ),
    TroubleCase(
        r"end-of-file was reached|EOF has been reached|End of file",
        FailureKind.PEER_GONE,
        "The GridFTP server ended during the transfer: check its log, restart it and repeat "
        "the transfer.",
    ),
    TroubleCase(
        r"the operation was aborted",
        FailureKind.TIMED_OUT,
        "No data moved for too long: check the GridFTP server and its disk.",
    ),
)


def trouble_of(status: int, errors: str) -> ToolTrouble | None:
    """What went wrong, by exit status and standard error; None when the status is 0."""
    if status == 0:
        return None
    text = errors.replace("\r", "")
    if trouble := first_trouble(_CASES, text):
        return trouble
    return ToolTrouble(FailureKind.CRASHED, _unknown(status, text))


_SEGMENTATION_FAULT: Final = 11


def _unknown(status: int, text: str) -> str:
    """The sentence for an unknown failure. Shells report a signal as 128 plus its number."""
    signal = -status if status < 0 else status - 128
    if signal == _SEGMENTATION_FAULT:
        return (
            "globus-url-copy crashed, as it does when the server accepts no more connections: move "
            "fewer files at a time, or have the server's -connections-max raised."
        )
    if signal > 0:
        return f"globus-url-copy was ended by signal {signal}: run it again."
    said = [line.strip() for line in text.splitlines() if line.strip()]
    if not said:
        return (
            "globus-url-copy failed without a message: check that its list of files can be written."
        )
    first = said[0].removeprefix("error: ").rstrip(".")
    return f"globus-url-copy failed ({first}): run its line with -dbg to see more."
