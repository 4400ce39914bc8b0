"""What rclone's errors mean. Provoked with 1.60.1 and 1.75.2 against OpenSSH 9.2."""

import re
from typing import Final

from advisor.api.json_lines import json_entry
from advisor.api.tool import ToolTrouble
from advisor.api.troubles import MOST_SHOWN, TroubleCase, trouble_of_run
from advisor.api.values import FailureKind

from .reader import ERRORS

_REFUSED: Final = re.compile(
    r"couldn't connect SSH: (?P<why>.*(?:connection reset by peer|EOF|broken pipe"
    r"|i/o timeout|kex_exchange_identification).*)"
    r"|(?P<session>ssh: rejected: [^\n]*|couldn't initialise SFTP: [^\n]*)"
    r"|(?P<store>SlowDown[^\n]*|TooManyRequests[^\n]*|status code: (?:429|503)[^\n]*"
    r"|StatusCode: (?:429|503)[^\n]*)"
)
_CASES: Final = (
    TroubleCase(
        r"knownhosts: key is unknown",
        FailureKind.NO_ACCESS,
        "The server's host key is in no known_hosts file: log in once with ssh, and compare it.",
    ),
    TroubleCase(
        r"knownhosts: key mismatch",
        FailureKind.NO_ACCESS,
        "The server has another host key than known_hosts says: find out why before anything else; "
        "an rclone before 1.67 also says so where only a key of another kind is known.",
    ),
    TroubleCase(
        r"ssh: unable to authenticate",
        FailureKind.NO_ACCESS,
        "The server accepts none of the keys: run ssh-copy-id for it, or ssh-add.",
    ),
    TroubleCase(
        r"passphrase protected|failed to parse private key file",
        FailureKind.NO_ACCESS,
        "rclone cannot read the private key: add it to an ssh-agent with ssh-add.",
    ),
    TroubleCase(
        r"InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken|NoCredentialProviders",
        FailureKind.NO_ACCESS,
        "The store does not accept the credentials of this remote: mend them with 'rclone config'.",
    ),
    TroubleCase(
        r"NoSuchBucket",
        FailureKind.NO_ACCESS,
        "The store has no such bucket: make it, or name another with --server REMOTE:BUCKET.",
    ),
    TroubleCase(
        r"AccessDenied|api error Forbidden",
        FailureKind.NO_ACCESS,
        "The store lets these credentials not write there: ask for the right, or choose another "
        "target.",
    ),
    TroubleCase(
        r"didn't find section in config file",
        FailureKind.NO_ACCESS,
        "rclone has no such remote: make it with 'rclone config'.",
    ),
    TroubleCase(
        r"connect: connection refused|no route to host|network is unreachable|no such host",
        FailureKind.REFUSED,
        "No server answers: check host and port, and name another with --server.",
    ),
    TroubleCase(
        r"subsystem request failed",
        FailureKind.NO_ACCESS,
        "The server offers no SFTP: its administrator enables the subsystem sftp in sshd_config.",
    ),
    TroubleCase(
        r"open (?P<path>/.*?): (?P<why>permission denied|input/output error)",
        FailureKind.NO_ACCESS,
        "{path} cannot be read ({why}): run this as a user who may read it, or leave it out.",
    ),
    TroubleCase(
        r"is a file not a directory",
        FailureKind.NO_ACCESS,
        "A folder of the target is a file at the destination: remove it, or choose another target.",
    ),
    # OpenSSH says no more than that it failed where another client has just made the same folder.
    TroubleCase(
        r"mkdir (?P<folder>\".*?\") failed: (?P<why>(?![^\n]*SSH_FX_FAILURE)[^\n]*)",
        FailureKind.NO_ACCESS,
        "The folder {folder} cannot be made at the destination ({why}): make it, or choose another "
        "target.",
    ),
    TroubleCase(
        r"(?i)permission denied|SSH_FX_PERMISSION_DENIED",
        FailureKind.NO_ACCESS,
        "The account at the server may not write there: choose a target that it may write to.",
    ),
    TroubleCase(
        r"(?i)no space left|quota exceeded|SSH_FX_NO_SPACE",
        FailureKind.DISK_FULL,
        "The destination disk is full: free space there, or choose a target on another disk.",
    ),
    TroubleCase(
        r"can't copy - source file is being updated|corrupted on transfer",
        FailureKind.FILES_CHANGED,
        "A file changed while it was read: run the advisor again when nothing changes these files.",
    ),
    TroubleCase(
        r"object not found|directory not found|no such file",
        FailureKind.FILES_CHANGED,
        "A file no longer exists: run the advisor again when nothing moves these files.",
    ),
    TroubleCase(
        r"unknown (?:flag|shorthand flag): (?P<flag>\S+)",
        FailureKind.REJECTED_SETTING,
        "This rclone has no option {flag}: install a newer one.",
    ),
    TroubleCase(
        r"SSH_FX_FAILURE",
        FailureKind.INCOMPLETE,
        "The server failed without a reason, as OpenSSH does where its disk is full: look at the "
        "free space there.",
    ),
)
_NOISE: Final = re.compile(r"Can't save config|Failed to seek log file|attempt \d+/\d+ ")


def trouble_of(status: int, output: str, errors: str) -> ToolTrouble | None:
    """What went wrong, by the exit status and what was logged; None for status 0."""
    lines = _messages(output, errors)
    return trouble_of_run(
        "rclone",
        status,
        _CASES,
        "\n".join(lines),
        said=lines[-1] if lines else "",
        refusal=refusal_of(output, errors),
    )


def refusal_of(output: str, errors: str) -> str:
    """Why connections were refused by a server that is there; "" if none was."""
    text = "\n".join(_messages(output, errors))
    if not (found := _REFUSED.search(text)):
        return ""
    if found["store"]:
        return f"the store asks for fewer requests at a time ({found['store'][:MOST_SHOWN]})"
    why = (found["why"] or found["session"] or "").strip().rstrip(".")
    return (
        f"the server accepts no more connections ({why[:MOST_SHOWN]}): MaxStartups and "
        "MaxSessions of its sshd, or a firewall, limit them"
    )


def _messages(output: str, errors: str) -> list[str]:
    """The errors of the log, and what is not of the log."""
    messages = []
    for line in [*output.splitlines(), *errors.splitlines()]:
        entry = json_entry(line)
        if entry and entry.get("level") not in ERRORS:
            continue
        words = str(entry.get("msg", "")) if entry else line
        if words.strip() and not _NOISE.search(words):
            messages.append(" ".join(words.split()))
    return messages
