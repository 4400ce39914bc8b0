"""The messages between the coordinator of a transfer over several nodes and one of its nodes.

Lines of JSON over the standard input and output of `advisor node`: bounded, versioned, decoded by
type. The node greets; the coordinator begins. Both say something at least every few seconds.

A node ends its clients `SILENT_S` after it sent the last message that the coordinator has answered.
What it had is given to another node once its lease has run out, `LEASE_S` after the coordinator
last renewed it, which it does for nodes alone that it still answers. So the two never move the same
piece at a time, however late messages arrive.
"""

from typing import Annotated, Final, TypeAlias

import msgspec

from advisor.agent.message_base import SENTENCE_LIMIT, HexHash, Nanoseconds, Sentence
from advisor.agent.target_messages import PublicKey
from advisor.domain.bounded import ByteCount
from advisor.domain.measurement import Outcome
from advisor.domain.path import PathFacts
from advisor.domain.printable import ShownText, shortened
from advisor.domain.problem import Problem
from advisor.domain.proof import Algorithm
from advisor.domain.space import Setting
from advisor.domain.transfers import Levels
from advisor.hosts.decoding import decoded
from advisor.models.slicing import FileEntry, Part
from advisor.runtime.request import TransferRequest

NODE_PROTOCOL: Final = 1
LINE_BYTES: Final = 16 * 2**20
PARTS_IN_LINE: Final = 400
"""Of names of any length, a line has less than `LINE_BYTES`."""

SILENT_S: Final = 10.0
RENEW_S: Final = 5.0
LEASE_S: Final = 30.0
"""Longer than the two above, and what a node then takes to end its clients."""

_Name = Annotated[str, msgspec.Meta(max_length=4096, pattern=r"^[^\x00]*\Z")]
_Digest = Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{32,128})?\Z")]
_Seal = Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{64})?\Z")]
_Several = msgspec.Meta(max_length=PARTS_IN_LINE)
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**31)]
_Rate = Annotated[float, msgspec.Meta(gt=0, le=1e15)]


class _Order(msgspec.Struct, frozen=True, kw_only=True, tag_field="do"):
    """The base of what the coordinator says."""


class _NodeMessage(msgspec.Struct, frozen=True, kw_only=True, tag_field="say"):
    """The base of what a node says."""


class LeasedPart(msgspec.Struct, frozen=True, array_like=True):
    """A part with the version of its file."""

    name: _Name
    file_bytes: ByteCount
    mtime_ns: Nanoseconds
    ctime_ns: Nanoseconds
    inode: Annotated[int, msgspec.Meta(ge=0)]
    offset_bytes: ByteCount
    size_bytes: ByteCount

    def __post_init__(self) -> None:
        if self.offset_bytes + self.size_bytes > self.file_bytes:
            raise ValueError("a part is within its file")

    @classmethod
    def of(cls, part: Part) -> "LeasedPart":
        """The same part."""
        file = part.file
        return cls(
            file.name,
            file.size_bytes,
            file.mtime_ns,
            file.ctime_ns,
            file.inode,
            part.offset_bytes,
            part.size_bytes,
        )

    @property
    def part(self) -> Part:
        """The same part."""
        file = FileEntry(self.name, self.file_bytes, self.mtime_ns, self.ctime_ns, self.inode)
        return Part(file, self.offset_bytes, self.size_bytes)


class Begin(_Order, frozen=True, kw_only=True, tag="begin"):
    """The order to begin. The destination of `request` is that of the node.

    `token`, `since_s`: of the claim at the target. `algorithm`: of the checksums, None for sizes
    only. `sample`: some of what is moved, to see whether this host has the same. `advised`: a start
    that the history suggests, None for none. The others are as in
    `TransferOptions`.
    """

    protocol: int
    request: TransferRequest
    token: HexHash
    since_s: float
    algorithm: Algorithm | None
    sample: Annotated[list[LeasedPart], _Several]
    start: Levels | None = None
    advised: Levels | None = None
    most_flows: int | None = None
    streams: int | None = None
    price: float | None = None
    epoch_s: float | None = None
    restarts: bool = False
    rate_limit_bps: _Rate | None = None
    niceness: int = 0


class Lease(_Order, frozen=True, kw_only=True, tag="lease"):
    """Parts to move from now on."""

    parts: Annotated[list[LeasedPart], _Several]


class Limit(_Order, frozen=True, kw_only=True, tag="limit"):
    """The mean rate of all clients of this node from now on is at most this, in bit/s."""

    rate_limit_bps: _Rate


class Finish(_Order, frozen=True, kw_only=True, tag="finish"):
    """There is nothing more to move: end."""


class StayAlive(_Order, frozen=True, kw_only=True, tag="alive"):
    """The coordinator has got the `Moving` of this number, and takes the node for alive."""

    number: Annotated[int, msgspec.Meta(ge=0, le=2**62)]


class NodeGreeting(_NodeMessage, frozen=True, kw_only=True, tag="greeting"):
    """The first message."""

    protocol: Annotated[int, msgspec.Meta(ge=1, le=2**31)]
    version: ShownText


class Ready(_NodeMessage, frozen=True, kw_only=True, tag="ready"):
    """The node can move files. `key`: that of the agent at its destination, see `TargetClaimed`."""

    path: PathFacts
    key: PublicKey
    setting: Setting


class Want(_NodeMessage, frozen=True, kw_only=True, tag="want"):
    """This many more bytes are to be leased."""

    wanted_bytes: Annotated[int, msgspec.Meta(ge=1, le=2**62)]


class ArrivedPart(msgspec.Struct, frozen=True, array_like=True):
    """A part that is equal at both ends, its digest, and the seal of the destination's agent."""

    part: LeasedPart
    digest: _Digest
    seal: _Seal


class Arrived(_NodeMessage, frozen=True, kw_only=True, tag="arrived"):
    """Parts that were moved and checked."""

    parts: Annotated[list[ArrivedPart], _Several]


class FileFailed(_NodeMessage, frozen=True, kw_only=True, tag="file_failed"):
    """This node cannot move what it has of a file."""

    file: LeasedPart
    message: Sentence

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "message", shortened(self.message, SENTENCE_LIMIT))


class Moving(_NodeMessage, frozen=True, kw_only=True, tag="moving"):
    """How the node does, about once a second; answered by `StayAlive` with its number.

    `carried_bytes`: what its path has carried, `flying_bytes`: of that, what is not checked yet.
    `is_held_back`: by its part of the rate limit.
    """

    number: Annotated[int, msgspec.Meta(ge=0, le=2**62)]
    carried_bytes: ByteCount
    flying_bytes: ByteCount
    clients: _Count
    concurrency: _Count
    parallelism: _Count
    is_held_back: bool = False


class EpochOver(_NodeMessage, frozen=True, kw_only=True, tag="epoch"):
    """A control epoch has ended."""

    setting: Setting
    outcome: Outcome


class Said(_NodeMessage, frozen=True, kw_only=True, tag="said"):
    """A sentence for the user."""

    message: Sentence

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "message", shortened(self.message, SENTENCE_LIMIT))


class Ended(_NodeMessage, frozen=True, kw_only=True, tag="ended"):
    """The last message: all clients have ended. `problem`: why, None when it was finished.

    `may_pass`: it may be tried again without any change.
    """

    problem: Problem | None = None
    may_pass: bool = False


NodeOrder: TypeAlias = Begin | Lease | Limit | Finish | StayAlive
FromNode: TypeAlias = (
    NodeGreeting | Ready | Want | Arrived | FileFailed | Moving | EpochOver | Said | Ended
)

_ORDERS: Final = msgspec.json.Decoder(NodeOrder)
_MESSAGES: Final = msgspec.json.Decoder(FromNode)
_ENCODER: Final = msgspec.json.Encoder()


def read_order(line: bytes) -> NodeOrder:
    """An order of the coordinator. Raises BadData."""
    order: NodeOrder = decoded(_ORDERS, line, LINE_BYTES)
    return order


def read_message(line: bytes) -> FromNode:
    """What a node says. Raises BadData."""
    message: FromNode = decoded(_MESSAGES, line, LINE_BYTES)
    return message


def as_line(message: NodeOrder | FromNode) -> bytes:
    """The message as sent."""
    return _ENCODER.encode(message) + b"\n"
