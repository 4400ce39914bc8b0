"""What the errors of xrdcp and xrdfs mean. Provoked with 5.5.3 of both and of xrootd."""

from typing import Final

from advisor.api.tool import ToolTrouble
from advisor.api.troubles import TroubleCase, trouble_of_run
from advisor.api.values import FailureKind

_CASES: Final = (
    TroubleCase(
        r"Auth failed|\[3030\]|No protocols left to try",
        FailureKind.NO_ACCESS,
        "The server does not let this user in: get a proxy, token or ticket as the site says, and "
        "try 'xrdfs' with it.",
    ),
    TroubleCase(
        r"TLS error",
        FailureKind.REFUSED,
        "The server has no TLS for this client: check its certificate, or name it with root://.",
    ),
    TroubleCase(
        r"Connection error|Invalid address|Socket (?:error|timeout)|Operation expired",
        FailureKind.REFUSED,
        "No XRootD server answers: check host and port, and name another with --server.",
    ),
    TroubleCase(
        r"(?i)no space left|\[3009\]|quota exceeded",
        FailureKind.DISK_FULL,
        "The destination disk is full: free space there, or choose a target on another disk.",
    ),
    TroubleCase(
        r"path '(?P<path>[^'\n]*)' is disallowed",
        FailureKind.NO_ACCESS,
        "The server does not serve {path}: choose a target that it does.",
    ),
    TroubleCase(
        r"Local error: permission denied",
        FailureKind.NO_ACCESS,
        "A file cannot be read: run this as a user who may read it, or leave it out.",
    ),
    TroubleCase(
        r"\[3005\][^\n]*(?:not a directory|is a directory|file exists)",
        FailureKind.NO_ACCESS,
        "A folder of the target is a file at the destination, or the reverse: remove it, or choose "
        "another target.",
    ),
    TroubleCase(
        r"\[3010\]|permission denied|[Rr]ead-only file system",
        FailureKind.NO_ACCESS,
        "The server may not write there: choose a target that it may write to.",
    ),
    TroubleCase(
        r"no such file or directory processing|Local error: no such file",
        FailureKind.FILES_CHANGED,
        "A file no longer exists: run the advisor again when nothing moves these files.",
    ),
    TroubleCase(
        r"Invalid operation: file exists",
        FailureKind.REJECTED_SETTING,
        "The file exists at the destination: remove it there, or use -f.",
    ),
    TroubleCase(
        r"Invalid option, '(?P<flag>-[\w-]+)",
        FailureKind.REJECTED_SETTING,
        "This xrdcp has no option {flag}: install a newer one.",
    ),
    TroubleCase(
        r"(?:sh|env|xargs): [^\n]*not found|xargs: xrdcp: No such file",
        FailureKind.NO_ACCESS,
        "xrdcp is not installed: install it here.",
    ),
    TroubleCase(
        r"Stream disconnect|Socket disconnected|closed the connection|End of file",
        FailureKind.RESET,
        "The connection was lost: try again.",
    ),
)


def trouble_of(status: int, output: str, errors: str) -> ToolTrouble | None:
    """What went wrong, by the exit status and the errors; None for status 0."""
    said = next((" ".join(line.split()) for line in errors.splitlines() if line.strip()), "")
    return trouble_of_run("xrdcp", status, _CASES, errors, said=said)
