"""What rsync's and ssh's errors mean. Provoked with rsync 3.5.0 against OpenSSH 9.2."""

import re
from typing import Final

from advisor.api.tool import ToolTrouble
from advisor.api.troubles import MOST_SHOWN, TroubleCase, trouble_of_run
from advisor.api.values import FailureKind

_REFUSED: Final = re.compile(
    r"^(kex_exchange_identification: [^\n]*|Connection (?:closed|reset) by [^\n]*"
    r"|Connection timed out during banner exchange[^\n]*)",
    re.MULTILINE,
)
_CASES: Final = (
    TroubleCase(
        r"Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED",
        FailureKind.NO_ACCESS,
        "ssh does not know the server's host key: log in once with ssh, and compare it.",
    ),
    TroubleCase(
        # With a number in the brackets it is the system that denies a file, and not ssh a login.
        r"Permission denied \((?P<kinds>[a-z][\w,-]*)\)",
        FailureKind.NO_ACCESS,
        "The server accepts none of the keys ({kinds}): run ssh-copy-id for it, or ssh-add.",
    ),
    TroubleCase(
        r"Connection refused|No route to host|Network is unreachable|Could not resolve hostname"
        r"|ssh: connect to host [^\n]*timed out",
        FailureKind.REFUSED,
        "No server answers: check host and port, and name another with --server.",
    ),
    TroubleCase(
        r"rsync: (?:(?:command )?not found|No such file or directory)$",
        FailureKind.NO_ACCESS,
        "rsync is not installed at the destination: install it there.",
    ),
    TroubleCase(
        r"is your shell clean",
        FailureKind.NO_ACCESS,
        "The account's start-up files at the destination, such as .bashrc, print text where rsync "
        "talks: let them print nothing for commands that ssh runs.",
    ),
    TroubleCase(
        r"Unable to negotiate with",
        FailureKind.REJECTED_SETTING,
        "The server does not accept this cipher: leave out -c.",
    ),
    TroubleCase(
        r"(?i)no space left on device|disk quota exceeded",
        FailureKind.DISK_FULL,
        "The destination disk is full: free space there, or choose a target on another disk.",
    ),
    TroubleCase(
        r"\[sender\][^\n]*(?:send_files failed to open|change_dir|opendir|readlink_stat|link_stat)"
        r" (?P<path>\"[^\n]*\")[^\n]*Permission denied",
        FailureKind.NO_ACCESS,
        "{path} cannot be read: run this as a user who may read it, or leave it out.",
    ),
    TroubleCase(
        r"\[[Rr]eceiver\] (?:mkdir|change_dir\S*) (?P<path>\"[^\n]*\")[^\n]*"
        r"failed: (?P<why>[^\n(]*[^\n( ])",
        FailureKind.NO_ACCESS,
        "The folder {path} cannot be made at the destination ({why}): make it, or choose another "
        "target.",
    ),
    TroubleCase(
        r"\[(?:generator|[Rr]eceiver)\][^\n]*(?:Permission denied|Read-only file system"
        r"|Operation not permitted)",
        FailureKind.NO_ACCESS,
        "The account at the server may not write there: choose a target that it may write to.",
    ),
    TroubleCase(
        r"\[(?:generator|[Rr]eceiver)\][^\n]*(?:Not a directory|Is a directory|could not make way)",
        FailureKind.NO_ACCESS,
        "A folder of the target is a file at the destination, or the reverse: remove it, or choose "
        "another target.",
    ),
    TroubleCase(
        r"vanished|\[sender\][^\n]*(?:link_stat|change_dir)[^\n]*No such file",
        FailureKind.FILES_CHANGED,
        "A file no longer exists: run the advisor again when nothing moves these files.",
    ),
    TroubleCase(
        r"failed verification|file has shrunk",
        FailureKind.FILES_CHANGED,
        "A file changed while it was read: run the advisor again when nothing changes these files.",
    ),
    TroubleCase(
        r"^rsync: (?P<flag>-[\w-]+)[^\n]*: unknown option",
        FailureKind.REJECTED_SETTING,
        "This rsync has no option {flag}: install a newer one.",
    ),
    TroubleCase(
        r"connection unexpectedly closed|Broken pipe|error in socket IO",
        FailureKind.RESET,
        "The connection was lost: try again.",
    ),
)
_SUMMARY: Final = re.compile(r"^(rsync error: |split: )")


def trouble_of(status: int, output: str, errors: str) -> ToolTrouble | None:
    """What went wrong, by the exit status and the errors; None for status 0."""
    lines = [" ".join(line.split()) for line in errors.splitlines() if line.strip()]
    first = next((line for line in lines if not _SUMMARY.match(line)), "".join(lines[-1:]))
    return trouble_of_run("rsync", status, _CASES, errors, said=first, refusal=refusal_of(errors))


def refusal_of(errors: str) -> str:
    """Why connections were refused by a server that is there; "" if none was."""
    if not (found := _REFUSED.search(errors)):
        return ""
    return (
        f"the server accepts no more connections ({found[1].strip().rstrip('.')[:MOST_SHOWN]}): "
        "MaxStartups of its sshd, or a firewall, limits them"
    )
