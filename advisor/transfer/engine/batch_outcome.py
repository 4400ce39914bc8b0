"""Decides what becomes of a batch that was moved: it counts, is moved again, or is given up."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from advisor.agent.client import AgentLink
from advisor.api.tool import ToolTrouble, TransferTool
from advisor.domain.measurement import FailureKind
from advisor.domain.problem import ProblemError
from advisor.hosts.file_samples import is_unchanged
from advisor.models.piecework import Batch
from advisor.models.slicing import FileEntry, Part
from advisor.probing.transfer import Ran
from advisor.runtime.arrival_check import is_short, shortage, written_sizes
from advisor.transfer.engine.batch_sizing import Backoff
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.journal import NotedPart
from advisor.transfer.engine.places import Places
from advisor.transfer.engine.proof import Proofs

_TRIES: Final = 2
"""How often a file is tried alone before it is given up, when the tool refuses it or it arrives
truncated."""

_OF_FILES: Final = (
    FailureKind.NO_ACCESS,
    FailureKind.REJECTED_SETTING,
    FailureKind.FILES_CHANGED,
)
"""Failures that may concern a single file. Before anything has arrived they concern all files."""

SaveArrived: TypeAlias = Callable[[Sequence[NotedPart]], Awaitable[None]]
"""Saves what has arrived, and its digests."""


class TransferFailed(ProblemError):
    """Nothing gets through any more; the message is one sentence.

    `may_pass`: whether it may get through later without any change.
    """

    may_pass = False


def leave_out(group: FileGroup, tool: TransferTool, tell: Callable[[str], None]) -> None:
    """Set aside files that the tool would move under another name, or not at all."""
    for file in group.files:
        if reason := tool.carries(file.name):
            group.set_aside(file, f"{file.name!a} is not moved: {reason}")
    if group.failed_files:
        count, first = len(group.failed_files), group.failed_files[0].message
        tell(first if count == 1 else f"{count} files are not moved; the first: {first}")


class BatchChecker:
    """Checks both ends of what was moved. The agent is asked under the lock `asking`.

    `proofs`: reads the content back; None where files are moved for a measurement alone.
    `fall_back`: called with the reason when nothing gets through any more; returns whether
    something else is tried from now on.
    """

    def __init__(
        self,
        link: AgentLink,
        tool: TransferTool,
        places: Places,
        tell: Callable[[str], None],
        note: SaveArrived | None = None,
        fall_back: Callable[[str], bool] = lambda _: False,
        proofs: Proofs | None = None,
    ) -> None:
        self.asking = asyncio.Lock()
        self.backoff = Backoff()
        self._fall_back = fall_back
        self._link = link
        self._tool = tool
        self._places = places
        self._tell = tell
        self._note = note
        self._proofs = proofs
        self._last_message = ""
        self._has_arrived = False
        self._misses: Counter[Part] = Counter()
        self._looked_at: set[str] = set()

    @property
    def proves(self) -> bool:
        """Whether contents are compared, and not sizes alone."""
        return self._proofs is not None and self._proofs.algorithm is not None

    def leave_out(self, group: FileGroup) -> None:
        """As the function of this name."""
        leave_out(group, self._tool, self._say)

    async def may_be_moved(self, group: FileGroup, batch: Batch) -> bool:
        """Whether ranges of the file may be written at the target, which is not truncated by them.

        Raises PeerError.
        """
        part = batch.parts[0]
        if part.is_whole:
            return True
        async with self.asking:
            if part.file.name not in self._looked_at:
                [size] = await self._link.sizes([self._places.piece(part).target])
                self._looked_at.add(part.file.name)
                if size is not None and size > part.file.size_bytes:
                    self._refuse_longer(group, part, size)
        return not group.work.is_dropped(part.file)

    async def check(self, group: FileGroup, batch: Batch, ran: Ran | None, began_s: float) -> bool:
        """Check a batch; returns whether any of it counts. The rest is given back, or set aside.

        `ran`: None for a client that stalled. Raises TransferFailed, PeerError.
        """
        has_changed = await self._set_changed_aside(group, batch)
        batch = Batch(tuple(p for p in batch.parts if not group.work.is_dropped(p.file)))
        if not batch.parts:
            return False
        if ran is None or ran.status is None:
            group.work.give_back(batch)
            self._fell(began_s, "A client stalled: it was ended, and its files are tried again.")
            return False
        if trouble := self._tool.trouble(ran.status, ran.output, ran.errors):
            if has_changed:
                group.work.give_back(batch)
            else:
                self._give_back(group, batch, trouble, began_s)
            return False
        return await self._count(group, batch, began_s)

    async def _set_changed_aside(self, group: FileGroup, batch: Batch) -> bool:
        changed = await asyncio.to_thread(self._changed, batch.parts)
        for file in changed:
            source = self._places.piece(Part(file, 0, file.size_bytes)).source
            self._set_aside(
                group,
                file,
                f"{source} changed or disappeared while it was moved: its copy is "
                "incomplete, so move it again",
            )
        return bool(changed)

    def _changed(self, parts: Sequence[Part]) -> list[FileEntry]:
        sources = ((part.file, Path(self._places.piece(part).source)) for part in parts)
        return [file for file, source in sources if not is_unchanged(source, file)]

    async def _count(self, group: FileGroup, batch: Batch, began_s: float) -> bool:
        """Count the parts of a batch that arrived, of which the tool reported success."""
        pieces = [self._places.piece(part) for part in batch.parts]
        sizes = await written_sizes(self._sizes, pieces)
        arrived: list[Part] = []
        short: list[Part] = []
        for part, piece, size in zip(batch.parts, pieces, sizes, strict=True):
            if is_short(piece, size):
                short.append(part)
                self._miss(group, part, shortage(piece, size))
            elif size is not None and size > part.file.size_bytes:
                self._refuse_longer(group, part, size)
            else:
                arrived.append(part)
        proven, differing = await self._proven(group, arrived)
        if proven:
            if self._note is not None:
                await self._note(proven)
            group.work.done(Batch(tuple(one.part for one in proven)))
            self._has_arrived = True
            self.backoff.clear()
        if short:
            group.work.give_back(Batch(tuple(short)))
            self._fell(began_s, "Files arrived incomplete, though the tool reported success.")
        if differing:
            group.work.give_back(Batch(tuple(differing)))
            self._fell(began_s, "Files arrived with other content, though all bytes are there.")
        return bool(proven)

    async def _proven(
        self, group: FileGroup, parts: Sequence[Part]
    ) -> tuple[list[NotedPart], list[Part]]:
        """The parts whose content is equal at both ends, and those to be moved again."""
        if self._proofs is None or not parts:
            return [NotedPart(part, "") for part in parts], []
        checks = await self._proofs.prove(self._link, parts, self.asking)
        # What was read here is what was listed only if it has not changed until now.
        await self._set_changed_aside(group, Batch(tuple(parts)))
        proven: list[NotedPart] = []
        differing: list[Part] = []
        for part, one in zip(parts, checks, strict=True):
            if group.work.is_dropped(part.file):
                continue
            if one.reason:
                differing.append(part)
                self._miss(group, part, one.reason)
            else:
                proven.append(NotedPart(part, one.digest))
        return proven, differing

    async def _sizes(self, paths: Sequence[str]) -> list[int | None]:
        async with self.asking:
            return await self._link.sizes(paths)

    def _give_back(
        self, group: FileGroup, batch: Batch, trouble: ToolTrouble, began_s: float
    ) -> None:
        """Give a batch back to be moved again.

        If one file may be to blame, the batch is split in half each time, until it is known which
        file it is. That file alone is then no setback, as the others are moved. Raises
        TransferFailed.
        """
        is_of_files = trouble.kind in _OF_FILES
        if trouble.kind is FailureKind.DISK_FULL or (is_of_files and not self._has_arrived):
            raise TransferFailed(trouble.message)
        if is_of_files and len(batch.parts) == 1:
            self._miss(group, batch.parts[0], trouble.message)
            group.work.give_back(batch)
            return
        for some in batch.halves() if is_of_files else [batch]:
            group.work.give_back(some)
        self._fell(began_s, trouble.message)

    def _miss(self, group: FileGroup, part: Part, message: str) -> None:
        """Count a failure of a part moved alone; at the limit its file is set aside."""
        self._misses[part] += 1
        if self._misses[part] >= _TRIES:
            self._set_aside(group, part.file, message)

    def _refuse_longer(self, group: FileGroup, part: Part, size: int) -> None:
        target = self._places.piece(part).target
        self._set_aside(
            group,
            part.file,
            f"{target} has {size} bytes at the destination, more than its source: remove it there, "
            "and move it again",
        )

    def _set_aside(self, group: FileGroup, file: FileEntry, message: str) -> None:
        group.set_aside(file, message)
        self._say(message)

    def _fell(self, began_s: float, message: str) -> None:
        """Count a setback. Raises TransferFailed if there were too many."""
        self._say(message)
        self.backoff.add(began_s, asyncio.get_running_loop().time())
        if not self.backoff.are_too_many:
            return
        if not self._fall_back(message):
            failed = TransferFailed(message)
            failed.may_pass = True
            raise failed
        self.backoff.clear()

    def _say(self, message: str) -> None:
        """Report a message, unless it equals the last one."""
        if message != self._last_message:
            self._tell(message)
        self._last_message = message
