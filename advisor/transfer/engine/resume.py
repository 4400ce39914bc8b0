"""Determines which parts of an interrupted transfer need not be moved again."""

from collections.abc import Sequence

from advisor.agent.client import AgentLink
from advisor.domain.quantities import format_bytes
from advisor.models.piecework import Done, Piecework
from advisor.models.slicing import FileEntry, Part
from advisor.transfer.engine.file_group import Places
from advisor.transfer.engine.journal import TransferJournal


async def confirmed_done(
    journal: TransferJournal, link: AgentLink, places: Places, files: Sequence[FileEntry]
) -> Done:
    """The ranges in the journal that the destination confirms; the journal is reduced to them.

    A file that is shorter there than its ranges, or longer than its source, is moved again as a
    whole. Raises PeerError, JournalStuck.
    """
    noted = await journal.read(files)
    begun = [file for file in files if file.name in noted]
    targets = [places.piece(Part(file, 0, file.size_bytes)).target for file in begun]
    sizes = await link.sizes(targets)
    done = {
        file.name: noted[file.name]
        for file, size in zip(begun, sizes, strict=True)
        if size is not None and _end(noted[file.name]) <= size <= file.size_bytes
    }
    await journal.begin(begun, done)
    return done


def _end(ranges: Sequence[tuple[int, int]]) -> int:
    return max(offset + length for offset, length in ranges)


def resume_message(files: Sequence[FileEntry], done: Done) -> str:
    """How far an earlier session got, in a sentence; "" if nothing has arrived."""
    if not done:
        return ""
    work = Piecework(files, done)
    return (
        f"resumes: {work.done_files} of {work.total_files} files, {format_bytes(work.done_bytes)} "
        f"of {format_bytes(work.total_bytes)} have arrived already"
    )
