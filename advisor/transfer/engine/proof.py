"""The proven pieces of a transfer: the digest of each, read at both ends after it was moved."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeAlias

from advisor.agent.client import AgentLink
from advisor.agent.target import RemoteTarget
from advisor.agent.target_messages import SealedPiece
from advisor.domain.proof import Algorithm, ProvenPiece, proven_bytes
from advisor.models.slicing import Part
from advisor.runtime.content_check import ContentCheck, check_content, ranges_of
from advisor.transfer.engine.places import Places

Tell: TypeAlias = Callable[[int], None]
"""Called with the bytes read so far."""


class Proofs:
    """The proven pieces of one transfer. `algorithm` None: nothing is read, sizes must do."""

    def __init__(self, places: Places, algorithm: Algorithm | None) -> None:
        self.algorithm = algorithm
        self._places = places
        self._pieces: dict[str, dict[tuple[int, int], tuple[bytes, bytes]]] = {}

    async def prove(
        self, link: AgentLink, parts: Sequence[Part], asking: asyncio.Lock
    ) -> list[ContentCheck]:
        """Read parts that were moved at both ends at the same time. Raises PeerError."""
        if self.algorithm is None:
            return [ContentCheck() for _ in parts]
        pieces = [self._places.piece(part) for part in parts]
        checks = await check_content(link, self.algorithm, pieces, asking)
        for part, one in zip(parts, checks, strict=True):
            if not one.reason:
                self._keep(part, one.digest, one.seal)
        return checks

    async def confirm(
        self,
        link: AgentLink,
        parts: Sequence[Part],
        digests: Sequence[str],
        tell: Tell | None = None,
    ) -> list[bool]:
        """Whether the destination still has the content of these digests. Raises PeerError."""
        if self.algorithm is None:
            return [True for _ in parts]
        ranges = ranges_of([self._places.piece(part) for part in parts])
        found = await RemoteTarget(link).digests(self.algorithm, ranges, tell)
        confirmed = []
        for part, known, one in zip(parts, digests, found, strict=True):
            confirmed.append(bool(known) and one.digest == known)
            if confirmed[-1]:
                self._keep(part, one.digest, one.seal)
        return confirmed

    def keep(self, part: Part, digest: str, seal: str) -> None:
        """A part that was proven by another host of the same transfer, "" for a size alone."""
        if digest and seal:
            self._keep(part, digest, seal)

    def seal_of(self, part: Part) -> str:
        """The seal of a proven part; "" without one."""
        pieces = self._pieces.get(part.file.name, {})
        found = pieces.get((part.offset_bytes, part.size_bytes))
        return found[1].hex() if found else ""

    def _keep(self, part: Part, digest: str, seal: str) -> None:
        pieces = self._pieces.setdefault(part.file.name, {})
        pieces[part.offset_bytes, part.size_bytes] = bytes.fromhex(digest), bytes.fromhex(seal)

    def forget(self, names: Sequence[str]) -> None:
        """Nothing of these files is proven any more."""
        for name in names:
            self._pieces.pop(name, None)

    def of_file(self, name: str) -> list[ProvenPiece]:
        """The proven pieces of a file, in order."""
        pieces = sorted(self._pieces.get(name, {}).items())
        return [ProvenPiece(*where, digest.hex()) for where, (digest, _) in pieces]

    def proves(self, name: str, size_bytes: int) -> bool:
        """Whether pieces without a gap prove the whole file."""
        return name in self._pieces and proven_bytes(self.of_file(name)) >= size_bytes

    def sealed(self) -> list[SealedPiece]:
        """All pieces in the order of a receipt: by name and offset."""
        return [
            SealedPiece(self._places.target_of(name), *where, digest.hex(), seal.hex())
            for name in sorted(self._pieces)
            for where, (digest, seal) in sorted(self._pieces[name].items())
        ]
