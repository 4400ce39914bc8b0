"""The messages of a transfer that proves what it delivers, from the claim to the receipt."""

from typing import Annotated, Literal, TypeAlias

import msgspec

from advisor.agent.message_base import (
    SEVERAL,
    AgentMessage,
    FilePath,
    FileRequest,
    HexHash,
    Mode,
    Name,
    Nanoseconds,
    Paths,
    Who,
)
from advisor.domain.bounded import ByteCount
from advisor.domain.proof import Algorithm, Digest
from advisor.hosts.checksums import Reason

PublicKey = Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{64})?\Z")]


class ClaimTarget(FileRequest, frozen=True, kw_only=True, tag="claim_target"):
    """Claim the exclusive right to write at a target: `TargetClaimed` or `TargetTaken`.

    `token`: secret of one transfer, also when it is resumed; `who` runs it. `take_over`: also if
    another transfer was abandoned there.
    """

    target: FilePath
    manifest: HexHash
    token: HexHash
    who: Who
    take_over: bool = False


class JoinTarget(FileRequest, frozen=True, kw_only=True, tag="join_target"):
    """Read below a target that an agent on another host has claimed for the same transfer.

    `since_s`: of its `TargetClaimed`. `TargetJoined`, or refused where this host does not see that
    claim: then its file system is another one.
    """

    target: FilePath
    token: HexHash
    since_s: Annotated[float, msgspec.Meta(ge=0, le=2**40)]


class ReleaseTarget(FileRequest, frozen=True, kw_only=True, tag="release_target"):
    """Give up the claim: `TargetReleased`. `done`: nothing is left to resume."""

    done: bool


class LookAtTarget(FileRequest, frozen=True, kw_only=True, tag="look_at_target"):
    """Request what exists below the claimed target, without following links: `TargetSeen`.

    `TargetTaken` if another transfer has a folder that one of these is in.
    """

    paths: Paths


class RemoveExisting(FileRequest, frozen=True, kw_only=True, tag="remove_existing"):
    """Remove files and links below the claimed target: `TargetChanged`."""

    paths: Paths


class MakeFolders(FileRequest, frozen=True, kw_only=True, tag="make_folders"):
    """Create folders below the claimed target, or keep existing ones: `TargetChanged`."""

    paths: Paths


class MakeLinks(FileRequest, frozen=True, kw_only=True, tag="make_links"):
    """Create symbolic links below the claimed target, each a path and a text: `TargetChanged`."""

    links: Annotated[
        list[tuple[FilePath, Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]]], SEVERAL
    ]


class SetAttributes(FileRequest, frozen=True, kw_only=True, tag="set_attributes"):
    """Set permission bits and modification times below the claimed target: `TargetChanged`.

    `entries`: path, bits (None: keep them), nanoseconds since 1970.
    """

    entries: Annotated[list[tuple[FilePath, Mode | None, Nanoseconds]], SEVERAL]


class GetDigests(FileRequest, frozen=True, kw_only=True, tag="get_digests"):
    """Compute the checksums of ranges of files, not of what links point to: `DigestsFound`.

    `pieces`: path, offset and length in bytes.
    """

    algorithm: Algorithm
    pieces: Annotated[list[tuple[FilePath, ByteCount, ByteCount]], SEVERAL]


class SealedPiece(msgspec.Struct, frozen=True, array_like=True):
    """A range of a file with the digest and the seal that the agent gave it."""

    path: FilePath
    offset_bytes: ByteCount
    size_bytes: ByteCount
    digest: Digest
    seal: HexHash


class AddToReceipt(FileRequest, frozen=True, kw_only=True, tag="add_to_receipt"):
    """Add pieces to the receipt of the claimed target, in its order: `ReceiptGrown`."""

    algorithm: Algorithm
    pieces: Annotated[list[SealedPiece], SEVERAL]


class SignReceipt(FileRequest, frozen=True, kw_only=True, tag="sign_receipt"):
    """Sign the receipt of all pieces added since the last one: `ReceiptSigned`."""

    manifest: HexHash
    tool: Name


class ClaimReply(AgentMessage, frozen=True, kw_only=True):
    """The base of the replies to requests that another transfer's claim may prevent."""


class TargetClaimed(ClaimReply, frozen=True, kw_only=True, tag="target_claimed"):
    """The target is claimed. `is_empty`: nothing exists there.

    `is_resumed`: the claim continues one of the same transfer. `since_s`: when it was claimed, by
    that host's clock, 0 from agents of versions that no other can join. `key`: the public key that
    the agent signs with, "" if it has none. `boot`: another one each time that host starts, "" if
    not known.
    """

    is_empty: bool
    is_resumed: bool
    since_s: Annotated[float, msgspec.Meta(ge=0, le=2**40)] = 0.0
    key: PublicKey = ""
    boot: Annotated[str, msgspec.Meta(max_length=64)] = ""

    def continues(self, before: "TargetClaimed") -> bool:
        """Whether what was read under an earlier claim of the same transfer is still proven.

        Not by an agent that does not know the seals of the one before, nor after a restart of the
        host: what was read from its cache may not have reached the disk.
        """
        same_agent = bool(self.key) and self.key == before.key
        return self.is_resumed and same_agent and bool(self.boot) and self.boot == before.boot


class TargetJoined(AgentMessage, frozen=True, kw_only=True, tag="target_joined"):
    """The claim is seen here. `key`: as in `TargetClaimed`; of agents with the same one, each knows
    the seals of the others."""

    key: PublicKey = ""


class TargetTaken(ClaimReply, frozen=True, kw_only=True, tag="target_taken"):
    """Another transfer has claimed the target, a folder above it, or something in it: `target`.

    `is_active`: it runs now; otherwise it was abandoned, if that is certain. `since_s`: in seconds
    since 1970; `file` holds the claim.
    """

    target: FilePath
    file: FilePath
    who: Who
    since_s: Annotated[float, msgspec.Meta(ge=0, le=2**40)]
    is_active: bool
    is_certain: bool = True


class TargetReleased(AgentMessage, frozen=True, kw_only=True, tag="target_released"):
    """The claim is given up. `left`: its file and why that could not be removed, "" otherwise."""

    left: Reason = ""


class TargetSeen(ClaimReply, frozen=True, kw_only=True, tag="target_seen"):
    """What each path is, None if there is nothing, and the size of a file in bytes.

    `outside`: a link on the way leads out of the target.
    """

    found: Annotated[
        list[tuple[Literal["file", "folder", "link", "other", "outside"], ByteCount] | None],
        SEVERAL,
    ]


class TargetChanged(AgentMessage, frozen=True, kw_only=True, tag="target_changed"):
    """Why each entry could not be changed, "" for success."""

    reasons: Annotated[list[Reason], SEVERAL]


class PieceDigest(msgspec.Struct, frozen=True, array_like=True):
    """The digest of a range, "" with a reason why there is none.

    `seal`: proves to the agent, later, that it read this there; "" without a claim.
    """

    digest: Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{32,128})?\Z")]
    seal: Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{64})?\Z")] = ""
    reason: Reason = ""


class DigestsFound(AgentMessage, frozen=True, kw_only=True, tag="digests_found"):
    """A digest for each range; `seen_bytes`: bytes read for them."""

    digests: Annotated[list[PieceDigest], SEVERAL]
    seen_bytes: ByteCount


class ReceiptGrown(AgentMessage, frozen=True, kw_only=True, tag="receipt_grown"):
    """The pieces are in the receipt."""


class ReceiptSigned(AgentMessage, frozen=True, kw_only=True, tag="receipt_signed"):
    """The signed `advisor.domain.proof.Statement` as JSON, Ed25519 signature and public key."""

    statement: Annotated[str, msgspec.Meta(max_length=16 * 1024)]
    signature: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{128}\Z")]
    public_key: HexHash


Change: TypeAlias = RemoveExisting | MakeFolders | MakeLinks | SetAttributes
Delivery: TypeAlias = (
    ClaimTarget
    | JoinTarget
    | ReleaseTarget
    | LookAtTarget
    | Change
    | GetDigests
    | AddToReceipt
    | SignReceipt
)
"""Requests of a transfer that proves what it delivers."""


TargetReply: TypeAlias = (
    TargetClaimed
    | TargetTaken
    | TargetJoined
    | TargetReleased
    | TargetSeen
    | TargetChanged
    | DigestsFound
    | ReceiptGrown
    | ReceiptSigned
)
"""The replies to these."""
