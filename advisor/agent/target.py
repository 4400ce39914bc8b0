"""The advisor's end of what an agent does with the target of a transfer."""

import posixpath
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

import msgspec

from advisor.agent import target_messages as t
from advisor.agent.batches import in_messages, weight
from advisor.agent.client import AgentLink
from advisor.agent.peer_errors import PeerError
from advisor.agent.replies import as_many
from advisor.domain.problem import ProblemKind
from advisor.domain.proof import Algorithm

_T = TypeVar("_T")
_R = TypeVar("_R", bound=t.ClaimReply)

_PIECE_BYTES: Final = 48
"""Two numbers beside a path, in a message."""

_SEALED_BYTES: Final = _PIECE_BYTES + 2 * 72
"""The same, and two digests."""


class TargetBusy(PeerError):
    """Another transfer runs to the target, or was abandoned there."""

    kind = ProblemKind.BUSY


class RemoteTarget:
    """The target of one transfer, at the agent of a link."""

    def __init__(self, link: AgentLink) -> None:
        self._link = link

    async def claim(self, request: t.ClaimTarget) -> t.TargetClaimed:
        """Claim the target. Raises TargetBusy, PeerError."""
        weight(request.target)
        reply: t.ClaimReply = await self._link.work(request, t.ClaimReply)
        return _granted(reply, t.TargetClaimed, request.target)

    async def join(self, request: t.JoinTarget) -> t.TargetJoined:
        """Read below a target that the agent of another host has claimed. Raises PeerError."""
        weight(request.target)
        return await self._link.work(request, t.TargetJoined)

    async def release(self, *, done: bool) -> str:
        """Give up the claim; `done`: nothing is left to resume. Raises PeerError.

        Returns the claim's file and why it could not be removed, "" otherwise.
        """
        reply = await self._link.work(t.ReleaseTarget(done=done), t.TargetReleased)
        return reply.left

    async def look(self, paths: Sequence[str]) -> list[tuple[str, int] | None]:
        """Kind and size in bytes of what is at each path, None for nothing.

        Raises TargetBusy if another transfer writes where one of them is, PeerError.
        """
        found: list[tuple[str, int] | None] = []
        for some in in_messages(paths, weight):
            reply: t.ClaimReply = await self._link.work(t.LookAtTarget(paths=some), t.ClaimReply)
            found += as_many(_granted(reply, t.TargetSeen).found, some)
        return found

    async def remove(self, paths: Sequence[str]) -> dict[str, str]:
        """Remove files and links. Returns why some remain, by path. Raises PeerError."""
        return await self._changed(paths, weight, lambda some: t.RemoveExisting(paths=some))

    async def make_folders(self, paths: Sequence[str]) -> dict[str, str]:
        """Create folders. Returns why some are missing, by path. Raises PeerError."""
        return await self._changed(paths, weight, lambda some: t.MakeFolders(paths=some))

    async def make_links(self, links: Sequence[tuple[str, str]]) -> dict[str, str]:
        """Create symbolic links: path and text. Returns why some are missing. Raises PeerError."""
        return await self._changed(
            links,
            lambda link: weight(link[0]) + len(msgspec.json.encode(link[1])),
            lambda some: t.MakeLinks(links=some),
            lambda link: link[0],
        )

    async def set_attributes(
        self, entries: Sequence[tuple[str, int | None, int]]
    ) -> dict[str, str]:
        """Set permission bits and modification times: path, bits or None, nanoseconds.

        Returns why some could not be set, by path. Raises PeerError.
        """
        return await self._changed(
            entries,
            lambda one: weight(one[0]) + _PIECE_BYTES,
            lambda some: t.SetAttributes(entries=some),
            lambda one: one[0],
        )

    async def _changed(
        self,
        items: Sequence[_T],
        measure: Callable[[_T], int],
        request: Callable[[list[_T]], t.Change],
        path: Callable[[_T], str] = str,
    ) -> dict[str, str]:
        failed: dict[str, str] = {}
        for some in in_messages(items, measure):
            reply = await self._link.work(request(some), t.TargetChanged)
            for item, reason in zip(some, as_many(reply.reasons, some), strict=True):
                if reason:
                    failed[path(item)] = reason
        return failed

    async def digests(
        self,
        algorithm: Algorithm,
        pieces: Sequence[tuple[str, int, int]],
        seen: Callable[[int], None] | None = None,
    ) -> list[t.PieceDigest]:
        """The digests of ranges there: path, offset and length in bytes.

        `seen` is called with the bytes read so far. Cancelling also ends the reading there. Raises
        PeerError.
        """
        digests: list[t.PieceDigest] = []
        seen_bytes = 0

        def report(count: int) -> None:
            if seen:
                seen(seen_bytes + count)

        for some in in_messages(pieces, lambda piece: weight(piece[0]) + _PIECE_BYTES):
            request = t.GetDigests(algorithm=algorithm, pieces=some)
            reply = await self._link.work(request, t.DigestsFound, report)
            report(reply.seen_bytes)
            seen_bytes += reply.seen_bytes
            digests += as_many(reply.digests, some)
        return digests

    async def sign(
        self,
        algorithm: Algorithm,
        pieces: Iterable[t.SealedPiece],
        manifest_digest: str,
        tool: str,
    ) -> t.ReceiptSigned:
        """Have a receipt signed for these pieces, which this agent has read. Raises PeerError."""
        for some in in_messages(list(pieces), lambda piece: weight(piece.path) + _SEALED_BYTES):
            request = t.AddToReceipt(algorithm=algorithm, pieces=some)
            await self._link.work(request, t.ReceiptGrown)
        return await self._link.work(
            t.SignReceipt(manifest=manifest_digest, tool=tool), t.ReceiptSigned
        )


def _granted(reply: t.ClaimReply, kind: type[_R], target: str = "") -> _R:
    """The reply, unless another transfer prevents it. Raises TargetBusy, PeerError."""
    if isinstance(reply, t.TargetTaken):
        raise _busy(target or reply.target, reply)
    if not isinstance(reply, kind):
        raise PeerError("the agent sent an unexpected answer")
    return reply


def _busy(target: str, taken: t.TargetTaken) -> TargetBusy:
    place = target
    if _is_above(taken.target, target):
        place = f"{taken.target}, which contains {target}"
    elif _is_above(target, taken.target):
        place = f"{taken.target}, which is in {target}"
    who = f" of {taken.who}" if taken.who else ""
    if taken.is_active:
        return TargetBusy(
            f"another transfer{who} is writing to {place}", remedy="wait until it has ended"
        )
    if not taken.is_certain:
        return TargetBusy(
            f"a transfer{who} may still run, and is not finished in {place}",
            remedy=f"wait for it; if it does not run, use --take-over ({taken.file} records it)",
        )
    return TargetBusy(
        f"an unfinished transfer{who} has left files in {place}",
        remedy=f"finish that one, or use --take-over to claim it ({taken.file} records it)",
    )


def _is_above(folder: str, path: str) -> bool:
    return posixpath.normpath(path).startswith(f"{posixpath.normpath(folder).rstrip('/')}/")
