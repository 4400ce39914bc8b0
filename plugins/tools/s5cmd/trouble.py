"""What s5cmd's errors mean. Provoked with 2.3.0 against `rclone serve s3`."""

import re
from typing import Final

from advisor.api.json_lines import json_entry
from advisor.api.tool import ToolTrouble
from advisor.api.troubles import MOST_SHOWN, TroubleCase, trouble_of_run
from advisor.api.values import FailureKind

_TOO_MUCH: Final = re.compile(
    r"SlowDown[^\n]*|TooManyRequests[^\n]*|status code: (?:429|503)[^\n]*"
)
_CASES: Final = (
    TroubleCase(
        r"NoCredentialProviders|InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken",
        FailureKind.NO_ACCESS,
        "The store does not accept the credentials of this account: set them as for the AWS "
        "command line, in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or ~/.aws/credentials.",
    ),
    TroubleCase(
        r"NoSuchBucket|NotFound: Not Found",
        FailureKind.NO_ACCESS,
        "The store has no such bucket: make it, or name another with --server.",
    ),
    TroubleCase(
        r"AccessDenied|Forbidden",
        FailureKind.NO_ACCESS,
        "The store does not allow this with these credentials: ask for the right, or choose "
        "another target.",
    ),
    TroubleCase(
        r"dial tcp|no such host|network is unreachable",
        FailureKind.REFUSED,
        "No store answers: check host and port, and name another with --server.",
    ),
    TroubleCase(
        r"open (?P<path>/[^\n]*?): permission denied",
        FailureKind.NO_ACCESS,
        "{path} cannot be read: run this as a user who may read it, or leave it out.",
    ),
    TroubleCase(
        r"given object [^\n]* not found|no such file",
        FailureKind.FILES_CHANGED,
        "A file no longer exists: run the advisor again when nothing moves these files.",
    ),
    TroubleCase(
        r"QuotaExceeded|no space left|InsufficientStorage",
        FailureKind.DISK_FULL,
        "The store is full: free space there, or choose another target.",
    ),
    TroubleCase(
        r"flag provided but not defined: (?P<flag>\S+)",
        FailureKind.REJECTED_SETTING,
        "This s5cmd has no option {flag}: install a newer one.",
    ),
    TroubleCase(
        r"InternalError",
        FailureKind.INCOMPLETE,
        "The store failed without a reason: look at its log, and at the free space there.",
    ),
    TroubleCase(
        r"connection reset by peer|broken pipe|unexpected EOF|EOF$",
        FailureKind.RESET,
        "The connection was lost: try again.",
    ),
)


def trouble_of(status: int, output: str, errors: str) -> ToolTrouble | None:
    """What went wrong, by the exit status and what was printed; None for status 0."""
    lines = _messages(output, errors)
    return trouble_of_run(
        "s5cmd",
        status,
        _CASES,
        "\n".join(lines),
        said=lines[-1] if lines else "",
        refusal=refusal_of(output, errors),
    )


def refusal_of(output: str, errors: str) -> str:
    """Why the store refused some of the connections; "" if it did not."""
    if not (found := _TOO_MUCH.search("\n".join(_messages(output, errors)))):
        return ""
    return f"the store asks for fewer requests at a time ({found[0][:MOST_SHOWN]})"


def _messages(output: str, errors: str) -> list[str]:
    """The errors, and what is no JSON."""
    messages = []
    for line in [*output.splitlines(), *errors.splitlines()]:
        entry = json_entry(line)
        words = str(entry.get("error", "")) if entry else line
        if words.strip():
            messages.append(" ".join(words.split()))
    return messages
