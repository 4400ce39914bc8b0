"""Says how far an earlier run of a transfer got."""

from collections.abc import Sequence

from advisor.domain.quantities import format_bytes
from advisor.models.piecework import Done, Piecework
from advisor.models.slicing import FileEntry


def resume_message(files: Sequence[FileEntry], done: Done) -> str:
    """How far an earlier session got, in a sentence; "" if nothing has arrived."""
    if not done:
        return ""
    work = Piecework(files, done)
    return (
        f"resumes: {work.done_files} of {work.total_files} files, {format_bytes(work.done_bytes)} "
        f"of {format_bytes(work.total_bytes)} have arrived already"
    )
