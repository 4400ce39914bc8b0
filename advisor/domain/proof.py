"""What proves that a transfer's content arrived: checksums of pieces, and a signed receipt."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated

import msgspec

from advisor.domain.manifest import Entry, Exclusion

RECEIPT_FORMAT = 1

Digest = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{32,128}\Z")]
"""In hexadecimal."""


class Algorithm(StrEnum):
    """A hash. BLAKE3 is the fastest; SHA-256 and MD5 are for sites and tools that need them."""

    BLAKE3 = "blake3"
    SHA256 = "sha256"
    MD5 = "md5"


class Existing(StrEnum):
    """What becomes of files that exist at the target before the transfer.

    `skip`: those with the content of the source count as moved; all others are refused.
    """

    REFUSE = "refuse"
    OVERWRITE = "overwrite"
    SKIP = "skip"


class ProvenPiece(msgspec.Struct, frozen=True, array_like=True):
    """A range of a file whose digest is equal at both ends."""

    offset_bytes: Annotated[int, msgspec.Meta(ge=0)]
    size_bytes: Annotated[int, msgspec.Meta(ge=0)]
    digest: Digest


def proven_bytes(pieces: Iterable[ProvenPiece]) -> int:
    """The bytes from the beginning of a file that these pieces, sorted, prove without a gap."""
    end = 0
    for one in pieces:
        if one.offset_bytes > end:
            break
        end = max(end, one.offset_bytes + one.size_bytes)
    return end


class Statement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the agent signs: what it read at its end, and what the advisor said about the rest.

    `pieces_digest`: SHA-256 of the lines of all pieces, see `piece_line`, in order of their names
    and offsets. `made_s`: in seconds since 1970.
    """

    format: int = RECEIPT_FORMAT
    host: str
    target: str
    algorithm: Algorithm
    pieces: int
    pieces_digest: str
    manifest_digest: str
    tool: str
    made_s: float


class Receipt(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The proof of one transfer.

    `statement`: JSON of a `Statement`, byte for byte as it was signed. `signature`, `public_key`:
    Ed25519 of the agent, in hexadecimal. `files`: the pieces of each file, by its name.
    `not_represented`: what the destination could not keep of an entry, by name.
    """

    statement: str
    signature: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{128}\Z")]
    public_key: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
    destination: str
    source: str
    entries: tuple[Entry, ...]
    exclusions: tuple[Exclusion, ...]
    files: dict[str, list[ProvenPiece]]
    not_represented: dict[str, str] = {}


def piece_line(path: str, offset_bytes: int, size_bytes: int, digest: str) -> bytes:
    """One piece in the form that is hashed and sealed."""
    return msgspec.json.encode((path, offset_bytes, size_bytes, digest)) + b"\n"
