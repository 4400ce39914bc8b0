"""Checks a copy against the receipt of its transfer, without the source."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from advisor.agent.signing import is_signed
from advisor.agent.target import RemoteTarget
from advisor.domain.manifest import Entry, EntryKind, Manifest, entry_path
from advisor.domain.problem import ProblemError, ProblemKind
from advisor.domain.proof import Receipt, Statement, piece_line, proven_bytes
from advisor.hosts.decoding import decoded
from advisor.runtime.connect import reach
from advisor.runtime.request import ConnectionOptions
from advisor.transfer.verifying import CopyComparison, CopyProgress, Difference, Seen

_RECEIPTS: Final = msgspec.json.Decoder(Receipt)
_STATEMENTS: Final = msgspec.json.Decoder(Statement)
# Some hundred bytes for each of millions of files.
_LIMIT_BYTES: Final = 2**31


class BadReceipt(ProblemError, ValueError):
    """The file proves nothing; the message is one sentence."""

    kind = ProblemKind.REFUSED


def read_receipt(path: Path) -> tuple[Receipt, Statement]:
    """A receipt and what was signed of it, after checking that they agree.

    Raises BadReceipt, OSError.
    """
    try:
        receipt = decoded(_RECEIPTS, path.read_bytes(), _LIMIT_BYTES)
        statement = decoded(_STATEMENTS, receipt.statement.encode(), _LIMIT_BYTES)
    except ValueError as error:
        raise BadReceipt(f"{path} is not a receipt ({str(error)[:200]})") from None
    if not is_signed(receipt.statement.encode(), receipt.signature, receipt.public_key):
        raise BadReceipt(f"{path}: the signature is not that of the agent's key")
    manifest = Manifest(
        source=receipt.source, entries=receipt.entries, exclusions=receipt.exclusions
    )
    files = manifest.of_kind(EntryKind.FILE)
    if (
        manifest.digest != statement.manifest_digest
        or _pieces_digest(receipt, statement) != (statement.pieces_digest, statement.pieces)
        or receipt.files.keys() != {one.name for one in files}
        or any(proven_bytes(receipt.files[one.name]) != one.size_bytes for one in files)
    ):
        raise BadReceipt(f"{path} is not what the agent signed: it was changed since")
    return receipt, statement


def _pieces_digest(receipt: Receipt, statement: Statement) -> tuple[str, int]:
    digest, count = hashlib.sha256(), 0
    for path, offset_bytes, size_bytes, known in _pieces(receipt, statement.target):
        digest.update(piece_line(path, offset_bytes, size_bytes, known))
        count += 1
    return digest.hexdigest(), count


def _pieces(receipt: Receipt, target: str) -> Iterator[tuple[str, int, int, str]]:
    """Path, offset, length and digest of all pieces, in the order in which they were signed."""
    for name in sorted(receipt.files):
        for one in receipt.files[name]:
            yield entry_path(target, name), one.offset_bytes, one.size_bytes, one.digest


async def verify_copy(
    request: ConnectionOptions, receipt: Receipt, statement: Statement, target: str, seen: Seen
) -> CopyComparison:
    """Read the copy at `target` and compare it with the receipt. Raises PeerError, BadSecret."""
    reached = await reach(request)
    try:
        files = [one for one in receipt.entries if one.kind is EntryKind.FILE]
        total_bytes = sum(one.size_bytes for one in files)
        paths = {one.name: entry_path(target, one.name) for one in files}
        sizes = await reached.link.sizes(list(paths.values()))
        differences = [
            _of_another_size(entry, size)
            for entry, size in zip(files, sizes, strict=True)
            if size != entry.size_bytes
        ]
        same = {one.name for one in files} - {one.name for one in differences}
        pieces = [(name, one) for name in sorted(same) for one in receipt.files[name]]
        found = await RemoteTarget(reached.link).digests(
            statement.algorithm,
            [(paths[name], one.offset_bytes, one.size_bytes) for name, one in pieces],
            lambda count: seen(CopyProgress(read_bytes=count, total_bytes=total_bytes)),
        )
    finally:
        await reached.link.close()
    other: dict[str, Difference] = {}
    for (name, piece), there in zip(pieces, found, strict=True):
        if there.reason:
            other[name] = Difference(
                name=name, kind="unreadable", side="destination", reason=there.reason
            )
        elif there.digest != piece.digest:
            other[name] = Difference(name=name, kind="checksum")
    return CopyComparison(
        files=len(files),
        total_bytes=total_bytes,
        sizes_only=False,
        differences=tuple(sorted([*differences, *other.values()], key=lambda one: one.name)),
    )


def _of_another_size(entry: Entry, size: int | None) -> Difference:
    return Difference(
        name=entry.name,
        kind="missing" if size is None else "size",
        here_bytes=entry.size_bytes,
        there_bytes=size,
    )
