"""The state of a transfer, and its outcome: what has arrived, and what has not."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from advisor.domain.quantities import format_bytes, format_duration, format_rate
from advisor.runtime.exit_codes import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED
from advisor.transfer.engine.batch_outcome import TransferFailed
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.journal import TransferJournal

_NAMED: Final = 100


class TransferState:
    """The file groups of a transfer. `earlier_bytes`: what had arrived before this session.

    `unreadable`: files and folders that could not be listed, and so are in no group.
    """

    def __init__(
        self, groups: Sequence[FileGroup], journal: TransferJournal, unreadable: int = 0
    ) -> None:
        self.groups = tuple(groups)
        self.journal = journal
        self.unreadable = unreadable
        self.earlier_bytes = self.arrived_bytes

    @property
    def arrived_bytes(self) -> int:
        """Bytes that have arrived, including those of earlier sessions."""
        return sum(group.arrived_bytes for group in self.groups)

    @property
    def remedy(self) -> str:
        """What to do if it is not complete."""
        if self.journal.is_kept:
            return "the same command resumes from there"
        return "the same command moves again what could not be recorded in the journal"

    def words(self, elapsed_s: float) -> str:
        """How much has arrived, and how fast, as text."""
        if not self.earlier_bytes:
            return _moved_words(self.arrived_bytes, elapsed_s)
        now_bytes = self.arrived_bytes - self.earlier_bytes
        moved = _moved_words(now_bytes, elapsed_s) if now_bytes else "nothing"
        return f"{format_bytes(self.arrived_bytes)}; of it now {moved}"


class TransferOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a transfer ended: the fields of the event `TransferEnded`.

    `may_pass`: it failed for a reason that may go away by itself.
    """

    complete: bool
    files: int
    moved_bytes: int
    earlier_bytes: int
    elapsed_s: float
    message: str
    missing: list[str]
    missing_files: int
    exit_code: int
    may_pass: bool = False

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of the event."""
        fields = msgspec.structs.asdict(self)
        del fields["may_pass"]
        return fields


def outcome_of(
    state: TransferState, elapsed_s: float, failure: TransferFailed | None, *, is_over: bool
) -> TransferOutcome:
    """The outcome. `failure`: why it gave up, if it did; `is_over`: it was not stopped."""
    groups = state.groups
    failed_files = [one for group in groups for one in group.failed_files]
    files = sum(group.arrived_files for group in groups)
    total_files = sum(group.total_files for group in groups)
    complete = is_over and not failed_files and not state.unreadable
    exit_code = EXIT_DONE if complete else EXIT_FAILED
    message = f"{files} of {total_files} files have arrived completely"
    if complete:
        number = "the file is" if files == 1 else f"all {files} files are"
        message = f"{number} there, {state.words(elapsed_s)}"
    elif failure:
        message = f"{failure}; {message}; {state.remedy}"
    elif not is_over:
        message = f"stopped: {message}; {state.remedy}"
        exit_code = EXIT_INTERRUPTED
    else:
        left_out = [f"{len(failed_files)} could not be moved"] if failed_files else []
        if state.unreadable:
            left_out.append(f"{state.unreadable} files or folders could not be read")
        message = ", ".join([message, *left_out])
    return TransferOutcome(
        complete=complete,
        files=files,
        moved_bytes=state.arrived_bytes,
        earlier_bytes=state.earlier_bytes,
        elapsed_s=elapsed_s,
        message=message,
        missing=[f"{one.file.name}: {one.message}" for one in failed_files[:_NAMED]],
        missing_files=len(failed_files),
        exit_code=exit_code,
        may_pass=bool(failure and failure.may_pass),
    )


def stopped(outcome: TransferOutcome) -> TransferOutcome:
    """The same outcome of a transfer that the user stopped while nothing got through."""
    return msgspec.structs.replace(outcome, exit_code=EXIT_INTERRUPTED)


def _moved_words(moved_bytes: int, elapsed_s: float) -> str:
    rate = format_rate(moved_bytes * 8 / max(1e-3, elapsed_s))
    return f"{format_bytes(moved_bytes)} in {format_duration(elapsed_s)}, {rate}"
