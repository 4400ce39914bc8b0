"""Compares the checksums of what was sent and what arrived, on request."""

import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from pathlib import Path
from typing import Final

import msgspec

from advisor.agent.client import AgentLink
from advisor.domain import events as ev
from advisor.domain.plan import ClassProgress
from advisor.models.slicing import FileEntry, Part
from advisor.runtime.exit_codes import EXIT_INTERRUPTED
from advisor.transfer.engine.journal import NotedPart
from advisor.transfer.engine.outcome import TransferOutcome, TransferState, with_differing
from advisor.transfer.engine.proof import Proofs
from advisor.transfer.engine.route import Route
from advisor.transfer.engine.session import TransferSession
from advisor.transfer.verifying import CopyComparison, CopyProgress, compare

_TELL_EVERY_S: Final = 1.0


class _Verifying:
    """Compares the files of one transfer. `differing`: the names of files that differed last."""

    def __init__(self, link: AgentLink, route: Route, tell: Callable[..., None]) -> None:
        self._link = link
        self._route = route
        self._tell = tell
        self._reported_s = float("-inf")
        self._reported_bytes = 0.0
        self.differing: frozenset[str] = frozenset()

    async def compare(self, files: Sequence[FileEntry]) -> None:
        """Read these files on both sides. Raises PeerError, OSError."""
        names = {file.name for file in files}
        places = self._route.places
        compared = await compare(
            self._link, Path(places.source), places.target, self._seen, names=names
        )
        self.differing = frozenset(one.name for one in compared.differences)
        self._say(compared)

    def _seen(self, progress: CopyProgress) -> None:
        now_s = time.monotonic()
        passed_s = now_s - self._reported_s
        if passed_s < _TELL_EVERY_S:
            return
        gained_bytes = max(0.0, progress.read_bytes - self._reported_bytes)
        self._reported_s, self._reported_bytes = now_s, progress.read_bytes
        one = ClassProgress(
            size="compared",
            files=0,
            total_files=0,
            moved_bytes=round(progress.read_bytes),
            total_bytes=progress.total_bytes,
            rate_bps=gained_bytes * 8 / passed_s,
            clients=0,
            parallelism=0,
        )
        self._tell(ev.FilesMoving, phase="verify", classes=[one])

    def _say(self, compared: CopyComparison) -> None:
        if self.differing:
            first = compared.differences[0]
            differ = "differ at the destination"
            if not all(one.is_certain for one in compared.differences):
                differ += " or could not be compared"
            message = (
                f"{len(self.differing)} of {compared.files} files {differ}, the first: "
                f"{first.name or self._route.places.source} ({first.kind})."
            )
        else:
            which = f"All {compared.files} files" if compared.files != 1 else "The one file"
            message = f"{which} compared by checksum: identical."
        self._tell(ev.Notice, message=message)


async def verified(
    session: TransferSession,
    route: Route,
    state: TransferState,
    outcome: TransferOutcome,
    move: Callable[[TransferState], Awaitable[TransferOutcome]],
) -> TransferOutcome:
    """The outcome after comparing checksums; what differs is moved a second time, by `move`.

    Raises PeerError, OSError, JournalStuck.
    """
    [group] = state.groups
    verifying = _Verifying(session.far_end.link, route, session.events.emit)
    until_stopped, proofs = session.control.until_stopped, session.delivery.proofs
    if not await until_stopped(verifying.compare(group.files)):
        return _not_compared(outcome)
    if not (differing := verifying.differing):
        return outcome
    proofs.forget(sorted(differing))
    await state.journal.begin(_noted(proofs, group.files, differing))
    same = {file.name: [(0, file.size_bytes)] for file in group.files if file.name not in differing}
    again = TransferState([route.group(group.files, same)], state.journal, state.exclusions)
    second = await move(again)
    if not second.has_all_files:
        return second
    suspects = [file for file in group.files if file.name in differing]
    if not await until_stopped(verifying.compare(suspects)):
        return _not_compared(second)
    if verifying.differing:
        await state.journal.begin(_noted(proofs, group.files, verifying.differing))
        return _not_the_same(second, verifying.differing)
    return msgspec.structs.replace(outcome, elapsed_s=outcome.elapsed_s + second.elapsed_s)


def _noted(proofs: Proofs, files: Sequence[FileEntry], but: Collection[str]) -> list[NotedPart]:
    """What the journal is to say: all that is proven, except for these files."""
    return [
        NotedPart(Part(file, piece.offset_bytes, piece.size_bytes), piece.digest)
        for file in files
        if file.name not in but
        for piece in proofs.of_file(file.name)
    ]


def _not_the_same(outcome: TransferOutcome, differing: Collection[str]) -> TransferOutcome:
    """The outcome of a transfer whose files still differ after they were moved twice."""
    number = len(differing)
    words = "file differs" if number == 1 else "files differ"
    return with_differing(
        outcome,
        differing,
        f"{number} {words} from the source though moved twice: check the disks and the memory of "
        "both hosts; the same command moves what differs again",
    )


def _not_compared(outcome: TransferOutcome) -> TransferOutcome:
    """The outcome of a transfer that was stopped during the comparison.

    Its files are not known to have arrived, so the target is not completed, and no receipt is
    signed: the same command finds its claim, and compares.
    """
    return msgspec.structs.replace(
        outcome,
        complete=False,
        has_all_files=False,
        message=f"stopped during the comparison: {outcome.files} files are there, whose checksums "
        "the same command compares",
        exit_code=EXIT_INTERRUPTED,
    )
