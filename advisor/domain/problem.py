"""What is wrong, as data: what happened, what to do about it, and the command that does it."""

from enum import StrEnum
from typing import ClassVar, Self

import msgspec

from advisor.domain.printable import escape_fields, is_printable


class ProblemKind(StrEnum):
    """What sort of thing went wrong."""

    INVALID = "invalid"
    """A value, an option or the content of a file cannot be used."""
    MISSING = "missing"
    """A program, a plugin, a file or a stored record is not there."""
    UNREACHABLE = "unreachable"
    """A host or a port does not answer, or what answers is not an agent."""
    LOST = "lost"
    """A connection that worked ended."""
    REFUSED = "refused"
    """The other side refused: a login, a secret, a request."""
    NO_ACCESS = "no access"
    """The account may not read, write or use something."""
    NO_SPACE = "no space"
    """A file system is full."""
    BUSY = "busy"
    """Something else is using it."""
    UNSUPPORTED = "unsupported"
    """This kernel, file system or program cannot do it."""
    NO_DATA = "no data"
    """Too little is known, or there is nothing to work on."""
    STOPPED = "stopped"
    """The user stopped it."""
    FAILED = "failed"
    """Anything else."""


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that is wrong.

    `reason`: what happened, one clause. `remedy`: what to do about it, one clause, "" if nothing is
    known to help. `command`: the one command that mends it or shows more, ready to be copied, ""
    without one; it is always made here, never taken from a peer. `host`: where it is to be run, ""
    for this host. `folder`: the directory it is to be run in, "" for any.

    Whatever the texts quote is made printable; a command that is not printable is left out.
    """

    kind: ProblemKind
    reason: str
    remedy: str = ""
    command: str = ""
    host: str = ""
    folder: str = ""

    def __post_init__(self) -> None:
        escape_fields(self, ("reason", "remedy", "host", "folder"))
        if not is_printable(self.command):
            msgspec.structs.force_setattr(self, "command", "")

    def __str__(self) -> str:
        """One line for logs, records and peers: the reason, then the remedy."""
        mends = self.remedy or self.command
        return f"{self.reason}: {mends}" if mends else self.reason


class ProblemError(Exception):
    """A problem that is raised. Subclasses set the `kind` that they usually have."""

    kind: ClassVar[ProblemKind] = ProblemKind.FAILED

    def __init__(
        self,
        reason: str,
        *,
        remedy: str = "",
        command: str = "",
        host: str = "",
        folder: str = "",
        kind: ProblemKind | None = None,
    ) -> None:
        """See Problem."""
        self.problem = Problem(
            kind=kind or self.kind,
            reason=reason,
            remedy=remedy,
            command=command,
            host=host,
            folder=folder,
        )
        super().__init__(str(self.problem))

    @classmethod
    def of(cls, problem: Problem) -> Self:
        """An error that is about this problem."""
        fields = msgspec.structs.asdict(problem)
        return cls(fields.pop("reason"), **fields)

    @classmethod
    def about(cls, what: str, error: Exception) -> Self:
        """The same problem, met in `what` (an option, a file; "" for nothing in particular).

        A remedy and a command of `error` are kept; its kind is not, if it is no ProblemError.
        """
        found = problem_of(error)
        reason = f"{what}: {found.reason}" if what else found.reason
        kind = found.kind if isinstance(error, ProblemError) else cls.kind
        return cls.of(msgspec.structs.replace(found, reason=reason, kind=kind))


def problem_of(error: BaseException) -> Problem:
    """The problem that an error is about; of another exception, its text as the reason."""
    if isinstance(error, ProblemError):
        return error.problem
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return Problem(kind=ProblemKind.FAILED, reason=where + error.strerror)
    return Problem(kind=ProblemKind.FAILED, reason=str(error) or type(error).__name__)
