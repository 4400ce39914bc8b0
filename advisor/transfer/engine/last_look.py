"""The last look at the target of a transfer, before it is called complete."""

import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from advisor.agent.client import AgentLink
from advisor.agent.target import RemoteTarget
from advisor.domain.manifest import Entry, EntryKind
from advisor.hosts.datasets import file_entry
from advisor.models.slicing import Part
from advisor.transfer.engine.delivery import Delivery
from advisor.transfer.engine.places import Places

_DIFFERS: Final = "its content is that of another name there"


async def not_as_proven(delivery: Delivery, link: AgentLink, places: Places) -> dict[str, str]:
    """Why entries are not at the target as they were proven or made, by name. Raises PeerError.

    Kinds and sizes of all. Files whose names are one where a file system ignores case or the form
    of Unicode are read again: the later one has replaced the earlier one there.
    """
    entries = delivery.manifest.entries
    found = await RemoteTarget(link).look([places.target_of(one.name) for one in entries])
    reasons = {one.name: _reason(one, there) for one, there in zip(entries, found, strict=True)}
    wrong = {name: reason for name, reason in reasons.items() if reason}
    pieces = [
        (Part(file_entry(one), piece.offset_bytes, piece.size_bytes), piece.digest)
        for one in _alike(delivery.manifest.of_kind(EntryKind.FILE))
        if one.name not in wrong
        for piece in delivery.proofs.of_file(one.name)
    ]
    same = await delivery.proofs.confirm(link, [part for part, _ in pieces], [d for _, d in pieces])
    differing = {
        part.file.name: _DIFFERS
        for (part, _), is_same in zip(pieces, same, strict=True)
        if not is_same
    }
    return wrong | differing


def _reason(entry: Entry, there: tuple[str, int] | None) -> str:
    if there is None:
        return "it is not there"
    kind, size_bytes = there
    if kind == "outside":
        return "it is reached through a link that leads out of the target"
    if kind != entry.kind:
        return f"it is a {kind} there, not a {entry.kind}"
    if entry.kind is EntryKind.FILE and size_bytes != entry.size_bytes:
        return f"it has {size_bytes} bytes there, not {entry.size_bytes}"
    return ""


def _alike(files: Sequence[Entry]) -> list[Entry]:
    by_name: dict[str, list[Entry]] = defaultdict(list)
    for one in files:
        by_name[unicodedata.normalize("NFC", one.name).casefold()].append(one)
    return [one for group in by_name.values() if len(group) > 1 for one in group]
