"""The messages between an advisor and an agent: lines of JSON, bounded, versioned and validated.

The agent sends the first greeting, `Welcome`; the advisor answers with `Hello`. Both must stay
readable by every version to come, so that a mismatch can be reported in a sentence. After that one
request is in progress at a time, except that `CloseProbe` may be sent while a probe runs, and
`StopWork` while the agent works on files or runs a tool's step. Both sides send keepalives, which
belong to no request (advisor.agent.keepalive).
"""

from typing import Annotated, Final, Literal, TypeAlias

import msgspec

from advisor.agent.message_base import (
    SENTENCE_LIMIT,
    SEVERAL,
    Address,
    AdvisorMessage,
    AgentMessage,
    BoundedSetting,
    FilePath,
    FileRequest,
    Host,
    Name,
    OwnAddress,
    Paths,
    Seconds,
    Sentence,
    Url,
)
from advisor.agent.target_messages import Delivery, TargetReply
from advisor.api.tool import Piece, TransferOrder
from advisor.api.transport import Port, Token
from advisor.domain.bounded import ByteCount, Clock, Span, Whole
from advisor.domain.connection import INTERFACES_LIMIT, HostInterface
from advisor.domain.file_io import FileIoJob, FileIoResult, Filesystem, StripeCount
from advisor.domain.measurement import FailureKind
from advisor.domain.path import HostFacts, PathFacts
from advisor.domain.printable import ShownText, shortened
from advisor.hosts.checksums import Checksum, Reason
from advisor.hosts.decoding import decoded

PROTOCOL: Final = 3
MESSAGE_LIMIT_BYTES: Final = 64 * 1024
RAW_OUTPUT_LIMIT: Final = 8 * 1024  # Six times that when every character is escaped.
PIECES_LIMIT: Final = 16
PROBES_LIMIT: Final = 8
STEP_OUTPUT_LIMIT: Final = 4 * 1024  # For each of two texts; see RAW_OUTPUT_LIMIT.


class Hello(AdvisorMessage, frozen=True, kw_only=True, tag="hello"):
    """The advisor's answer to the greeting."""

    protocol: Annotated[int, msgspec.Meta(ge=1, le=2**31)]
    version: ShownText


class KeepAlive(AdvisorMessage, frozen=True, kw_only=True, tag="keepalive"):
    """The advisor is there. No reply belongs to it."""


class GetFacts(AdvisorMessage, frozen=True, kw_only=True, tag="facts"):
    """Request the host's facts; `facing` is the advisor's own address.

    `chose_source`, here and below: the user chose that address, so that it is not the one of this
    connection. Otherwise the agent takes the connection's, which NAT may have changed.
    """

    facing: Address
    # Unset, it is not written: agents of versions without it are asked as they were.
    chose_source: bool | msgspec.UnsetType = msgspec.UNSET


class OpenEcho(AdvisorMessage, frozen=True, kw_only=True, tag="open_echo"):
    """Open a UDP echo for the path MTU; it closes after a time, or with `CloseEcho`."""

    source_address: Address
    token: Token
    chose_source: bool | msgspec.UnsetType = msgspec.UNSET


class CloseEcho(AdvisorMessage, frozen=True, kw_only=True, tag="close_echo"):
    """Close the echo."""


class OpenProbe(AdvisorMessage, frozen=True, kw_only=True, tag="open_probe"):
    """Run the receiving end of one probe, when it is this advisor's turn.

    `destination_address`: the agent's address that the data will be sent to, as the advisor knows
    it; "" for any.
    """

    transport: Name
    setting: BoundedSetting
    source_address: Address
    destination_address: OwnAddress = ""
    token: Token
    ceiling_s: Seconds
    sample_every_s: Seconds
    chose_source: bool | msgspec.UnsetType = msgspec.UNSET


class OpenProbes(AdvisorMessage, frozen=True, kw_only=True, tag="open_probes"):
    """Run the receiving ends of several probes at once, in one turn: over several connections, or
    those of the processes that one probe is spread over.

    Each reply about one of them is an `OfProbe`. Agents that report no interfaces do not know it.
    """

    probes: Annotated[list[OpenProbe], msgspec.Meta(min_length=1, max_length=PROBES_LIMIT)]


class CloseProbe(AdvisorMessage, frozen=True, kw_only=True, tag="close_probe"):
    """End the probe, or all that run at once: close the ports and give up the turn."""


class GetFolder(FileRequest, frozen=True, kw_only=True, tag="get_folder"):
    """Request the file system of a folder: `FolderFound`."""

    path: FilePath


class RunFileIo(FileRequest, frozen=True, kw_only=True, tag="run_file_io"):
    """Measure reading or writing in a folder, when it is this advisor's turn: `FileIoMeasured`."""

    folder: FilePath
    job: FileIoJob


class GetSizes(FileRequest, frozen=True, kw_only=True, tag="get_sizes"):
    """Request the sizes of files: `SizesFound`. Links are followed, but in a claimed target."""

    paths: Paths


class SyncFiles(FileRequest, frozen=True, kw_only=True, tag="sync_files"):
    """Write files back to the disk, those that are there: `FilesSynced`."""

    paths: Paths


class GetChecksums(FileRequest, frozen=True, kw_only=True, tag="get_checksums"):
    """Compute the checksums of whole files: `ChecksumsFound`. Links are followed, but in a claimed
    target."""

    paths: Paths


class MakeScratch(FileRequest, frozen=True, kw_only=True, tag="make_scratch", omit_defaults=True):
    """Create a scratch folder in this one or the nearest existing one above: `ScratchMade`.

    `server_port`: where the server listens that will write in it, -1 if not known; 0: no server.
    `stripes`: of its new files, on Lustre; 0 leaves them to the folder above.
    """

    folder: FilePath
    server_port: Annotated[int, msgspec.Meta(ge=-1, le=65535)] = 0
    stripes: StripeCount = 0


class MoveFiles(FileRequest, frozen=True, kw_only=True, tag="move_files"):
    """Move files of a scratch folder to their places, never replacing files: `FilesMoved`."""

    pairs: Annotated[list[tuple[FilePath, FilePath]], SEVERAL]


class RemoveScratch(FileRequest, frozen=True, kw_only=True, tag="remove_scratch"):
    """Remove a scratch folder and its content: `ScratchRemoved`."""

    folder: FilePath


class StepPiece(Piece, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A piece, with limits."""

    source: FilePath
    target: FilePath
    size_bytes: ByteCount
    offset_bytes: ByteCount = 0


class StepPath(PathFacts, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A path whose addresses are valid."""

    source_address: Address
    destination_address: Address


class StepOrder(TransferOrder, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A transfer, with limits. The agent chooses list file and ports itself."""

    setting: BoundedSetting
    pieces: Annotated[tuple[StepPiece, ...], msgspec.Meta(min_length=1, max_length=PIECES_LIMIT)]
    path: StepPath
    destination_host: Host
    list_file: Literal[""] = ""
    server_url: Url | None = None
    base_port: Literal[0] = 0


class RunStep(FileRequest, frozen=True, kw_only=True, tag="run_step"):
    """Run the destination's step of a transfer, as planned by the agent's plugin of that name.

    When it is this advisor's turn: `StepReady`, and `StepEnded` when it has ended.
    """

    tool: Name
    order: StepOrder


class StopWork(AdvisorMessage, frozen=True, kw_only=True, tag="stop_work"):
    """End the present work or step; allowed when there is none."""


Work: TypeAlias = (
    GetFolder
    | RunFileIo
    | GetSizes
    | SyncFiles
    | GetChecksums
    | MakeScratch
    | MoveFiles
    | RemoveScratch
    | Delivery
)
Request: TypeAlias = (
    Hello
    | KeepAlive
    | GetFacts
    | OpenEcho
    | CloseEcho
    | OpenProbe
    | OpenProbes
    | CloseProbe
    | Work
    | RunStep
    | StopWork
)


def _make_sentence(reply: AgentMessage, message: str) -> None:
    """Make its message printable and short enough, whichever side made it."""
    msgspec.structs.force_setattr(reply, "message", shortened(message, SENTENCE_LIMIT))


class Welcome(AgentMessage, frozen=True, kw_only=True, tag="welcome"):
    """The greeting."""

    protocol: Annotated[int, msgspec.Meta(ge=1, le=2**31)]
    version: ShownText


class Alive(AgentMessage, frozen=True, kw_only=True, tag="alive"):
    """The agent is there. It belongs to no request."""


class Facts(AgentMessage, frozen=True, kw_only=True, tag="facts"):
    """The host's facts, the transports it can receive, and its interfaces.

    `interfaces`: None from agents of versions that do not report them.
    """

    facts: HostFacts
    transports: Annotated[list[Name], msgspec.Meta(max_length=64)]
    interfaces: Annotated[list[HostInterface], msgspec.Meta(max_length=INTERFACES_LIMIT)] | None = (
        None
    )


class EchoReady(AgentMessage, frozen=True, kw_only=True, tag="echo_ready"):
    """The echo listens on this UDP port."""

    port: Port


class EchoClosed(AgentMessage, frozen=True, kw_only=True, tag="echo_closed"):
    """The echo is closed."""


class TurnAwaited(AgentMessage, frozen=True, kw_only=True, tag="turn_awaited"):
    """Others are measuring; `ahead` of them come first. Sent again when that changes."""

    ahead: Annotated[int, msgspec.Meta(ge=0, le=10000)]


class ProbeReady(AgentMessage, frozen=True, kw_only=True, tag="probe_ready"):
    """The receiving end listens on this port and uses these versions to move data."""

    port: Port
    versions: Annotated[dict[Name, ShownText], msgspec.Meta(max_length=16)] = msgspec.field(
        default_factory=dict
    )


class ProbeSample(AgentMessage, frozen=True, kw_only=True, tag="probe_sample"):
    """The receiving end's running totals; fields as in advisor.api.transport.Sample."""

    t_s: Clock
    total_bytes: ByteCount
    cpu_s: Clock
    busy_s: Clock
    host_s: Clock
    rtt_s: Span | None = None
    arrived_bytes: ByteCount | None = None
    granted: Annotated[dict[Name, Whole], msgspec.Meta(max_length=16)] = msgspec.field(
        default_factory=dict
    )
    thread_cpu_s: Clock | None = None


class ProbeEnded(AgentMessage, frozen=True, kw_only=True, tag="probe_ended"):
    """The probe has ended on this side, its ports are closed; `message` is "" on success.

    `raw_output` is stored as it is, and never shown.
    """

    message: Sentence = ""
    kind: FailureKind | None = None
    raw_output: Annotated[str, msgspec.Meta(max_length=RAW_OUTPUT_LIMIT)] = ""

    def __post_init__(self) -> None:
        _make_sentence(self, self.message)


class OfProbe(AgentMessage, frozen=True, kw_only=True, tag="of_probe"):
    """A reply about one of the probes of `OpenProbes`; they are numbered from 0."""

    number: Annotated[int, msgspec.Meta(ge=0, lt=PROBES_LIMIT)]
    reply: ProbeReady | ProbeSample | ProbeEnded


class AtWork(AgentMessage, frozen=True, kw_only=True, tag="at_work"):
    """Sent about once a second during file work or a step; `seen_bytes`: bytes read so far."""

    seen_bytes: ByteCount = 0


class WorkStopped(AgentMessage, frozen=True, kw_only=True, tag="work_stopped"):
    """The work was stopped on request, without a result."""


class FolderFound(AgentMessage, frozen=True, kw_only=True, tag="folder_found"):
    """The file system of the folder."""

    filesystem: Filesystem


class FileIoMeasured(AgentMessage, frozen=True, kw_only=True, tag="file_io_measured"):
    """The result of measuring reading or writing."""

    result: FileIoResult


class SizesFound(AgentMessage, frozen=True, kw_only=True, tag="sizes_found"):
    """Sizes in bytes, None for missing files."""

    sizes: Annotated[list[ByteCount | None], SEVERAL]


class FilesSynced(AgentMessage, frozen=True, kw_only=True, tag="files_synced"):
    """The files are on the disk. `elapsed_s`: how long that took."""

    elapsed_s: Span


class ChecksumsFound(AgentMessage, frozen=True, kw_only=True, tag="checksums_found"):
    """A checksum for each file, or why there is none; `seen_bytes`: bytes read for them."""

    checksums: Annotated[list[Checksum], SEVERAL]
    seen_bytes: ByteCount


class ScratchMade(AgentMessage, frozen=True, kw_only=True, tag="scratch_made"):
    """The scratch folder."""

    folder: FilePath


class FilesMoved(AgentMessage, frozen=True, kw_only=True, tag="files_moved"):
    """Why each file could not be moved to its place, "" for success."""

    reasons: Annotated[list[Reason], SEVERAL]


class ScratchRemoved(AgentMessage, frozen=True, kw_only=True, tag="scratch_removed"):
    """The scratch folder was removed."""


class StepReady(AgentMessage, frozen=True, kw_only=True, tag="step_ready"):
    """The step runs and the next may be started; `base_port`: the first of its ports."""

    base_port: Port


class StepEnded(AgentMessage, frozen=True, kw_only=True, tag="step_ended"):
    """The step's exit status, below 0 for a signal, and the ends of its output."""

    status: Annotated[int, msgspec.Meta(ge=-255, le=255)]
    output: Annotated[str, msgspec.Meta(max_length=STEP_OUTPUT_LIMIT)] = ""
    errors: Annotated[str, msgspec.Meta(max_length=STEP_OUTPUT_LIMIT)] = ""


class Refused(AgentMessage, frozen=True, kw_only=True, tag="refused"):
    """A failed request, with a sentence. The connection stays open, except after a bad `Hello`."""

    message: Sentence

    def __post_init__(self) -> None:
        _make_sentence(self, self.message)


Reply: TypeAlias = (
    Welcome
    | Alive
    | Facts
    | EchoReady
    | EchoClosed
    | TurnAwaited
    | ProbeReady
    | ProbeSample
    | ProbeEnded
    | OfProbe
    | AtWork
    | WorkStopped
    | FolderFound
    | FileIoMeasured
    | SizesFound
    | FilesSynced
    | ChecksumsFound
    | ScratchMade
    | FilesMoved
    | ScratchRemoved
    | TargetReply
    | StepReady
    | StepEnded
    | Refused
)

_REQUESTS: Final = msgspec.json.Decoder(Request)
_REPLIES: Final = msgspec.json.Decoder(Reply)
_ENCODER: Final = msgspec.json.Encoder()


def read_request(line: bytes) -> Request:
    """The request in a line. Raises BadData, a ValueError, for anything else."""
    request: Request = decoded(_REQUESTS, line, MESSAGE_LIMIT_BYTES)
    return request


def read_reply(line: bytes) -> Reply:
    """The reply in a line. Raises BadData, a ValueError, for anything else."""
    reply: Reply = decoded(_REPLIES, line, MESSAGE_LIMIT_BYTES)
    return reply


def as_line(message: Request | Reply) -> bytes:
    """The message as sent over the wire."""
    return _ENCODER.encode(message) + b"\n"


def mismatch(protocol: int, version: str) -> str:
    """The sentence for a peer with another protocol."""
    age = "an older" if protocol < PROTOCOL else "a newer"
    return (
        f"the other side runs advisor {version}, which speaks {age} protocol "
        f"({protocol}, here {PROTOCOL}): install the same version on both sides"
    )
