"""The state of a transfer, and its outcome: what has arrived, and what has not."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import msgspec

from advisor.domain.manifest import Exclusion, Manifest
from advisor.domain.names import in_short, names_in_short
from advisor.domain.quantities import format_bytes, format_duration, format_rate
from advisor.runtime.exit_codes import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED
from advisor.transfer.engine.batch_outcome import TransferFailed
from advisor.transfer.engine.completion import Completion
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.journal import TransferJournal

_NAMED: Final = 100


class TransferState:
    """The file groups of a transfer. `earlier_bytes`: what had arrived before this session.

    `exclusions`: what of the source is in no group, though the user did not ask for that.
    """

    def __init__(
        self,
        groups: Sequence[FileGroup],
        journal: TransferJournal,
        exclusions: Sequence[Exclusion] = (),
    ) -> None:
        self.groups = tuple(groups)
        self.journal = journal
        self.exclusions = tuple(exclusions)
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

    `may_pass`: it failed for a reason that may go away by itself. `has_all_files`: every file of
    the manifest has arrived, whatever was excluded from that.
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
    receipt: str | None = None
    may_pass: bool = False
    has_all_files: bool = False

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of the event."""
        fields = msgspec.structs.asdict(self)
        del fields["may_pass"], fields["has_all_files"]
        return fields


def outcome_of(
    state: TransferState, elapsed_s: float, failure: TransferFailed | None, *, is_over: bool
) -> TransferOutcome:
    """The outcome. `failure`: why it gave up, if it did; `is_over`: it was not stopped."""
    groups = state.groups
    failed_files = [one for group in groups for one in group.failed_files]
    files = sum(group.arrived_files for group in groups)
    total_files = sum(group.total_files for group in groups)
    has_all_files = is_over and not failed_files
    complete = has_all_files and not state.exclusions
    exit_code = EXIT_DONE if complete else EXIT_FAILED
    message = f"{files} of {total_files} files have arrived completely"
    if complete:
        number = "the file is" if files == 1 else f"all {files} files are"
        message = f"{number} there, {state.words(elapsed_s)}"
    elif failure:
        reason = str(failure).rstrip(".")  # Some are what a tool said, as whole sentences.
        message = f"{reason}; {message}; {state.remedy}"
    elif not is_over:
        message = f"stopped: {message}; {state.remedy}"
        exit_code = EXIT_INTERRUPTED
    else:
        left_out = [f"{len(failed_files)} could not be moved"] if failed_files else []
        if state.exclusions:
            left_out.append(exclusions_as_text(state.exclusions))
        message = ", ".join([message, *left_out])
    return TransferOutcome(
        complete=complete,
        files=files,
        moved_bytes=state.arrived_bytes,
        earlier_bytes=state.earlier_bytes,
        elapsed_s=elapsed_s,
        message=message,
        missing=[
            *(f"{one.file.name}: {one.message}" for one in failed_files[:_NAMED]),
            *(f"{one.name}: {one.reason}" for one in state.exclusions[:_NAMED]),
        ],
        missing_files=len(failed_files) + len(state.exclusions),
        exit_code=exit_code,
        has_all_files=has_all_files,
        may_pass=bool(failure and failure.may_pass),
    )


def after_completion(
    outcome: TransferOutcome, completion: Completion, manifest: Manifest
) -> TransferOutcome:
    """The outcome of a transfer whose files have arrived, once its target is completed."""
    if completion.changed:
        return _without(
            outcome,
            dict.fromkeys(completion.changed, "changed at the source"),
            "changed at the source while they were moved: "
            f"{names_in_short(completion.changed)}; the same command moves these again",
        )
    if reasons := completion.not_there:
        described = [f"{name!r} ({why})" for name, why in sorted(reasons.items())]
        return _without(
            outcome,
            reasons,
            f"not at the destination as they should be: {in_short(described)}; once nothing is in "
            "their way there, the same command completes the transfer",
        )
    if completion.receipt_trouble:
        proof = f"equal by checksum at both ends, but {completion.receipt_trouble}"
    elif completion.receipt is None:
        proof = "sizes only were compared"
    else:
        proof = f"equal by checksum at both ends; receipt: {completion.receipt}"
    return msgspec.structs.replace(
        outcome,
        message=f"{outcome.message}; {proof}",
        receipt=str(completion.receipt) if completion.receipt else None,
    )


def with_differing(
    outcome: TransferOutcome, names: Collection[str], message: str
) -> TransferOutcome:
    """The outcome of a transfer after which these files differ at the destination.

    They have not arrived, so the target is not completed, and no receipt is signed.
    """
    return _without(outcome, dict.fromkeys(names, "it differs at the destination"), message)


def _without(outcome: TransferOutcome, reasons: Mapping[str, str], message: str) -> TransferOutcome:
    """The outcome of a transfer that lacks these entries: why, by name."""
    return msgspec.structs.replace(
        outcome,
        complete=False,
        has_all_files=False,
        message=message,
        missing=[f"{name}: {reasons[name]}" for name in sorted(reasons)[:_NAMED]],
        missing_files=len(reasons),
        exit_code=EXIT_FAILED,
    )


def not_completed(outcome: TransferOutcome, reason: str) -> TransferOutcome:
    """The outcome of a transfer whose files have arrived, and whose target was not completed."""
    return msgspec.structs.replace(
        outcome,
        complete=False,
        message=f"all files are there, but the transfer was not completed: {reason}; the same "
        "command completes it",
        exit_code=EXIT_FAILED,
    )


def exclusions_as_text(exclusions: Sequence[Exclusion]) -> str:
    """How many entries are left out, and the first of them with their reasons."""
    number = "1 entry" if len(exclusions) == 1 else f"{len(exclusions)} entries"
    return f"{number} left out: {in_short([f'{one.name!r} ({one.reason})' for one in exclusions])}"


def stopped(outcome: TransferOutcome) -> TransferOutcome:
    """The same outcome of a transfer that the user stopped while nothing got through."""
    return msgspec.structs.replace(outcome, exit_code=EXIT_INTERRUPTED)


def _moved_words(moved_bytes: int, elapsed_s: float) -> str:
    rate = format_rate(moved_bytes * 8 / max(1e-3, elapsed_s))
    return f"{format_bytes(moved_bytes)} in {format_duration(elapsed_s)}, {rate}"
