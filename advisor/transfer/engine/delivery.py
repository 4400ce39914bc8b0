"""The target of one transfer: claimed and looked at before, completed and proven at the end."""

import contextlib
import getpass
import os
import socket
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from advisor.agent.client import AgentLink
from advisor.agent.peer_errors import PeerError
from advisor.agent.target import RemoteTarget
from advisor.agent.target_messages import ClaimTarget, TargetClaimed
from advisor.api.tool import TransferTool
from advisor.domain.manifest import Entry, EntryKind, Manifest
from advisor.domain.names import names_in_short
from advisor.domain.printable import printable
from advisor.domain.problem import ProblemError, ProblemKind
from advisor.domain.proof import Existing
from advisor.domain.quantities import format_bytes
from advisor.hosts.datasets import file_entry
from advisor.models.piecework import Done
from advisor.models.slicing import Part
from advisor.runtime.content_check import read_here
from advisor.transfer.engine.journal import Noted, NotedPart, TransferJournal
from advisor.transfer.engine.options import DeliveryOptions
from advisor.transfer.engine.places import Places
from advisor.transfer.engine.proof import Proofs

_TELL_EVERY_S: Final = 10.0


class TargetRefused(ProblemError):
    """What exists at the target must not be replaced; the message is one sentence."""

    kind = ProblemKind.REFUSED


class Delivery:
    """What one transfer does with its target. `proofs`: what is proven so far. `claimed`: what the
    agent said to the claim, the last time; None before."""

    def __init__(
        self,
        places: Places,
        tool: TransferTool,
        manifest: Manifest,
        options: DeliveryOptions,
        tell: Callable[[str], None],
    ) -> None:
        """`tell` is called with a sentence on what differs from an earlier run."""
        self.manifest = manifest
        self.files = [file_entry(one) for one in manifest.of_kind(EntryKind.FILE)]
        self.proofs = Proofs(places, options.algorithm)
        self._places = places
        self._tool = tool
        self._options = options
        self._tell = tell
        self._is_prepared = False
        self.claimed: TargetClaimed | None = None

    async def prepare(self, journal: TransferJournal, link: AgentLink) -> Done:
        """Claim the target; returns the ranges that need not be moved again.

        After a lost connection call it again: what was proven in this session stays proven while
        the claim is held. Raises TargetBusy, TargetRefused, PeerError, JournalStuck.
        """
        carried = [file for file in self.files if not self._tool.carries(file.name)]
        noted = await journal.read(carried)
        if self._options.restart and not self._is_prepared:
            noted = Noted()
        before = self.claimed
        claimed = self.claimed = await self._claim(journal.token, link)
        # A claim alone does not say that what exists at the target is of this transfer.
        is_ours = claimed.is_resumed and journal.was_begun
        try:
            self._tell_source_changes(noted)
            confirmed = await self._confirmed(noted, before, claimed, link)
            if not claimed.is_empty:
                confirmed += await self._existing(confirmed, link, is_ours=is_ours)
        except BaseException:
            if not is_ours:
                with contextlib.suppress(PeerError):
                    await RemoteTarget(link).release(done=True)
            raise
        await journal.begin(confirmed)
        self._is_prepared = journal.was_begun = True
        return _ranges(confirmed)

    async def _claim(self, token: str, link: AgentLink) -> TargetClaimed:
        return await RemoteTarget(link).claim(
            ClaimTarget(
                target=self._places.target,
                manifest=self.manifest.digest,
                token=token,
                who=printable(f"{_user()}@{socket.gethostname()}")[:200],
                take_over=self._options.take_over,
            )
        )

    def _tell_source_changes(self, noted: Noted) -> None:
        if noted.changed and not self._is_prepared:
            self._tell(
                "Changed at the source since the last run, moved again: "
                f"{names_in_short(sorted(noted.changed))}."
            )
        if noted.gone and not self._is_prepared:
            self._tell(
                "Not at the source any more since the last run; what arrived of them stays at the "
                f"destination: {names_in_short(sorted(noted.gone))}."
            )

    async def _confirmed(
        self, noted: Noted, before: TargetClaimed | None, claimed: TargetClaimed, link: AgentLink
    ) -> list[NotedPart]:
        """The noted parts whose content the destination still has.

        `before`: what the agent said to this session's claim before the connection was lost.
        """
        if claimed.is_empty or not noted.parts:
            return []
        by_file: dict[str, list[NotedPart]] = defaultdict(list)
        for one in noted.parts:
            by_file[one.part.file.name].append(one)
        found = await RemoteTarget(link).look([self._places.target_of(name) for name in by_file])
        fitting = [
            one
            for (name, parts), there in zip(by_file.items(), found, strict=True)
            if _fits(parts, there)
            for one in parts
        ]
        if before is not None and self._is_prepared and claimed.continues(before):
            return fitting  # Nobody else had the target since this session read them.
        # An earlier agent's seals would be refused, and parts that differ are no longer proven.
        self.proofs.forget(list(by_file))
        digests = [one.digest for one in fitting]
        parts = [one.part for one in fitting]
        tell = self.reading_back(parts, "what arrived earlier")
        same = await self.proofs.confirm(link, parts, digests, tell)
        confirmed = [one for one, is_same in zip(fitting, same, strict=True) if is_same]
        differing = by_file.keys() - {one.part.file.name for one in confirmed}
        if differing:
            self._tell(
                "Changed at the destination since they arrived, moved again: "
                f"{names_in_short(sorted(differing))}."
            )
        return confirmed

    def reading_back(self, parts: Sequence[Part], what: str) -> Callable[[int], None]:
        """Reports now and then how many bytes of these parts have been read; `what` they are."""
        total = format_bytes(sum(part.size_bytes for part in parts))
        reported_s = time.monotonic()

        def seen(read_bytes: int) -> None:
            nonlocal reported_s
            if time.monotonic() - reported_s >= _TELL_EVERY_S:
                reported_s = time.monotonic()
                self._tell(
                    f"Compares the checksums of {what}: {format_bytes(read_bytes)} of {total} read."
                )

        return seen

    async def _existing(
        self, confirmed: Sequence[NotedPart], link: AgentLink, *, is_ours: bool
    ) -> list[NotedPart]:
        """Deal with what exists at the target; returns the parts that are there already.

        `is_ours`: an interrupted run of this transfer has left it.
        """
        known = {one.part.file.name for one in confirmed}
        entries = [one for one in self.manifest.entries if one.name not in known]
        found = await RemoteTarget(link).look([self._places.target_of(e.name) for e in entries])
        there = [(entry, one) for entry, one in zip(entries, found, strict=True) if one]
        self._check_kinds(there)
        existing = [(entry, one) for entry, one in there if entry.kind is not EntryKind.FOLDER]
        if is_ours:
            # Whole files replace them, ranges must fit in.
            await self._remove([e for e, one in existing if not _can_stay(e, one)], link)
            return []
        if not existing:
            return []
        if self._options.existing is Existing.OVERWRITE:
            await self._remove([entry for entry, _ in existing], link)
            return []
        if self._options.existing is Existing.SKIP:
            return await self._skipped(existing, link)
        paths = [self._places.target_of(entry.name) for entry, _ in existing]
        raise TargetRefused(
            f"{_counted(len(existing))} at the destination already: {names_in_short(paths)}",
            remedy="use --skip-existing to keep those with the same content, or --overwrite",
        )

    def _check_kinds(self, there: Sequence[tuple[Entry, tuple[str, int]]]) -> None:
        wrong = [
            (entry, kind)
            for entry, (kind, _) in there
            if kind in ("outside", "other")
            or (kind == "folder") != (entry.kind is EntryKind.FOLDER)
        ]
        if not wrong:
            return
        entry, kind = wrong[0]
        is_there = {"outside": "is reached through a link that leads out of the target"}.get(
            kind, f"is a {kind} at the destination, not a {entry.kind}"
        )
        raise TargetRefused(
            f"{self._places.target_of(entry.name)} {is_there}",
            remedy="remove it, or choose another --to",
        )

    async def _remove(self, entries: Sequence[Entry], link: AgentLink) -> None:
        paths = [self._places.target_of(entry.name) for entry in entries]
        if failed := await RemoteTarget(link).remove(paths):
            path, reason = next(iter(failed.items()))
            raise TargetRefused(
                f"{path} cannot be replaced at the destination: {reason}",
                remedy="remove it there, or choose another --to",
            )

    async def _skipped(
        self, existing: Sequence[tuple[Entry, tuple[str, int]]], link: AgentLink
    ) -> list[NotedPart]:
        """The existing files as parts, if everything that exists is as at the source."""
        other = [entry for entry, (kind, _) in existing if kind != entry.kind]
        entries = [entry for entry, (kind, _) in existing if kind == entry.kind]
        files = [file_entry(one) for one in entries if one.kind is EntryKind.FILE]
        parts = [Part(file, 0, file.size_bytes) for file in files]
        if self.proofs.algorithm is None:
            raise TargetRefused(
                "--skip-existing compares contents", remedy="leave out --no-checksum"
            )
        links = [
            (self._places.target_of(one.name), one.link_target)
            for one in entries
            if one.kind is EntryKind.LINK
        ]
        # An existing one is accepted if it is the same.
        other_links = await RemoteTarget(link).make_links(links)
        here = await read_here(self.proofs.algorithm, [self._places.piece(one) for one in parts])
        same = await self.proofs.confirm(link, parts, [one.digest for one in here])
        sizes = await link.sizes([self._places.target_of(file.name) for file in files])
        differing = [self._places.target_of(entry.name) for entry in other]
        differing += other_links
        differing += [
            self._places.target_of(file.name)
            for file, size, is_same in zip(files, sizes, same, strict=True)
            if not is_same or size != file.size_bytes
        ]
        if differing:
            raise TargetRefused(
                f"{_counted(len(differing))} at the destination with other content: "
                f"{names_in_short(differing)}",
                remedy="use --overwrite to replace them",
            )
        self._tell(f"{_counted(len(entries))} at the destination already, with the same content.")
        return [NotedPart(part, one.digest) for part, one in zip(parts, here, strict=True)]


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # A number without a name, as in containers.
        return str(os.getuid())


def _ranges(parts: Iterable[NotedPart]) -> Done:
    done: dict[str, list[tuple[int, int]]] = {}
    for one in parts:
        done.setdefault(one.part.file.name, []).append((one.part.offset_bytes, one.part.size_bytes))
    return done


def _fits(parts: Sequence[NotedPart], there: tuple[str, int] | None) -> bool:
    """Whether a file there may contain these parts, and nothing more than its source."""
    if there is None or there[0] != "file":
        return False
    end = max(one.part.offset_bytes + one.part.size_bytes for one in parts)
    return end <= there[1] <= parts[0].part.file.size_bytes


def _can_stay(entry: Entry, there: tuple[str, int]) -> bool:
    """Links cannot: what they say is not known, and they are made at the end."""
    kind, size_bytes = there
    return kind == entry.kind == EntryKind.FILE and size_bytes <= entry.size_bytes


def _counted(number: int) -> str:
    return "1 entry is" if number == 1 else f"{number} entries are"
