"""The messages between an advisor and an agent: lines of JSON, bounded, versioned and validated.

The agent sends the first greeting, `Welcome`; the advisor answers with `Hello`. Both must stay
readable by every version to come, so that a mismatch can be reported in a sentence. After that one
request is in progress at a time, except that `CloseProbe` may be sent while a probe runs, and
`StopWork` while the agent works on files or runs a tool's step.
"""

from typing import Annotated, Final, Literal, TypeAlias

import msgspec

from advisor.api.tool import Piece, TransferOrder
from advisor.api.transport import Port, Token
from advisor.domain.file_io import FileIoJob, FileIoResult, Filesystem
from advisor.domain.measurement import FailureKind
from advisor.domain.path import HostFacts, PathFacts
from advisor.domain.space import SettingValue
from advisor.hosts.checksums import Checksum, Reason

PROTOCOL: Final = 2
MESSAGE_LIMIT_BYTES: Final = 64 * 1024
RAW_OUTPUT_LIMIT: Final = 8 * 1024  # Six times that when every character is escaped.
PATHS_LIMIT: Final = 400
"""The number of files per request: an answer about that many fits a message."""
PIECES_LIMIT: Final = 16
STEP_OUTPUT_LIMIT: Final = 4 * 1024  # For each of two texts; see RAW_OUTPUT_LIMIT.

FilePath = Annotated[str, msgspec.Meta(min_length=1, max_length=4096, pattern=r"^/[^\x00]*\Z")]
"""Absolute, in UTF-8, without NUL, which no path may contain."""

_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=64, pattern="^[A-Za-z0-9_.-]+$")]
_Address = Annotated[str, msgspec.Meta(min_length=2, max_length=45, pattern="^[0-9A-Fa-f:.]+$")]
_Host = Annotated[str, msgspec.Meta(min_length=1, max_length=255, pattern=r"^[\w.:%][\w.:%-]*\Z")]
_Text = Annotated[str, msgspec.Meta(max_length=1024)]
_Seconds = Annotated[float, msgspec.Meta(gt=0, le=3600)]
_Setting = Annotated[dict[_Name, SettingValue], msgspec.Meta(max_length=16)]
_Bytes = Annotated[int, msgspec.Meta(ge=0, le=2**62)]
_Several = msgspec.Meta(min_length=1, max_length=PATHS_LIMIT)
_Paths = Annotated[list[FilePath], _Several]


class _Request(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="do", forbid_unknown_fields=True
):
    """The base of the advisor's messages."""


class Hello(_Request, frozen=True, kw_only=True, tag="hello"):
    """The advisor's answer to the greeting."""

    protocol: Annotated[int, msgspec.Meta(ge=1, le=2**31)]
    version: _Text


class GetFacts(_Request, frozen=True, kw_only=True, tag="facts"):
    """Request the host's facts; `facing` is the advisor's own address."""

    facing: _Address


class OpenEcho(_Request, frozen=True, kw_only=True, tag="open_echo"):
    """Open a UDP echo for the path MTU; it closes after a time, or with `CloseEcho`."""

    source_address: _Address
    token: Token


class CloseEcho(_Request, frozen=True, kw_only=True, tag="close_echo"):
    """Close the echo."""


class OpenProbe(_Request, frozen=True, kw_only=True, tag="open_probe"):
    """Run the receiving end of one probe, when it is this advisor's turn."""

    transport: _Name
    setting: _Setting
    source_address: _Address
    token: Token
    ceiling_s: _Seconds
    sample_every_s: _Seconds


class CloseProbe(_Request, frozen=True, kw_only=True, tag="close_probe"):
    """End the probe: close its ports and give up the turn."""


class FileRequest(_Request, frozen=True, kw_only=True):
    """Work on files. It ends with the reply that its request names, `Refused` or `WorkStopped`.

    Until then the agent sends `AtWork`.
    """


class GetFolder(FileRequest, frozen=True, kw_only=True, tag="get_folder"):
    """Request the file system of a folder: `FolderFound`."""

    path: FilePath


class RunFileIo(FileRequest, frozen=True, kw_only=True, tag="run_file_io"):
    """Measure reading or writing in a folder, when it is this advisor's turn: `FileIoMeasured`."""

    folder: FilePath
    job: FileIoJob


class GetSizes(FileRequest, frozen=True, kw_only=True, tag="get_sizes"):
    """Request the sizes of files: `SizesFound`."""

    paths: _Paths


class GetChecksums(FileRequest, frozen=True, kw_only=True, tag="get_checksums"):
    """Compute the checksums of whole files: `ChecksumsFound`."""

    paths: _Paths


class MakeScratch(FileRequest, frozen=True, kw_only=True, tag="make_scratch"):
    """Create a scratch folder in this one or the nearest existing one above: `ScratchMade`."""

    folder: FilePath


class MoveFiles(FileRequest, frozen=True, kw_only=True, tag="move_files"):
    """Move files of a scratch folder to their places, never replacing files: `FilesMoved`."""

    pairs: Annotated[list[tuple[FilePath, FilePath]], _Several]


class RemoveScratch(FileRequest, frozen=True, kw_only=True, tag="remove_scratch"):
    """Remove a scratch folder and its content: `ScratchRemoved`."""

    folder: FilePath


class StepPiece(Piece, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A piece, with limits."""

    source: FilePath
    target: FilePath
    size_bytes: _Bytes
    offset_bytes: _Bytes = 0


class StepPath(PathFacts, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A path whose addresses are valid."""

    source_address: _Address
    destination_address: _Address


class StepOrder(TransferOrder, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A transfer, with limits. The agent chooses list file and ports itself."""

    setting: _Setting
    pieces: Annotated[tuple[StepPiece, ...], msgspec.Meta(min_length=1, max_length=PIECES_LIMIT)]
    path: StepPath
    destination_host: _Host
    list_file: Literal[""] = ""
    server_url: _Text | None = None
    base_port: Literal[0] = 0


class RunStep(FileRequest, frozen=True, kw_only=True, tag="run_step"):
    """Run the destination's step of a transfer, as planned by the agent's plugin of that name.

    When it is this advisor's turn: `StepReady`, and `StepEnded` when it has ended.
    """

    tool: _Name
    order: StepOrder


class StopWork(_Request, frozen=True, kw_only=True, tag="stop_work"):
    """End the present work or step; allowed when there is none."""


Work: TypeAlias = (
    GetFolder | RunFileIo | GetSizes | GetChecksums | MakeScratch | MoveFiles | RemoveScratch
)
Request: TypeAlias = (
    Hello | GetFacts | OpenEcho | CloseEcho | OpenProbe | CloseProbe | Work | RunStep | StopWork
)


class _Reply(msgspec.Struct, frozen=True, kw_only=True, tag_field="say"):
    """The base of the agent's messages. Unknown fields are ignored: a newer agent may add some."""


class Welcome(_Reply, frozen=True, kw_only=True, tag="welcome"):
    """The greeting."""

    protocol: Annotated[int, msgspec.Meta(ge=1, le=2**31)]
    version: _Text


class Facts(_Reply, frozen=True, kw_only=True, tag="facts"):
    """The host's facts, and the transports it can receive."""

    facts: HostFacts
    transports: Annotated[list[_Name], msgspec.Meta(max_length=64)]


class EchoReady(_Reply, frozen=True, kw_only=True, tag="echo_ready"):
    """The echo listens on this UDP port."""

    port: Port


class EchoClosed(_Reply, frozen=True, kw_only=True, tag="echo_closed"):
    """The echo is closed."""


class TurnAwaited(_Reply, frozen=True, kw_only=True, tag="turn_awaited"):
    """Others are measuring; `ahead` of them come first. Sent again when that changes."""

    ahead: Annotated[int, msgspec.Meta(ge=0, le=10000)]


class ProbeReady(_Reply, frozen=True, kw_only=True, tag="probe_ready"):
    """The receiving end listens on this port and uses these versions to move data."""

    port: Port
    versions: Annotated[dict[_Name, _Text], msgspec.Meta(max_length=16)] = {}


class ProbeSample(_Reply, frozen=True, kw_only=True, tag="probe_sample"):
    """The receiving end's running totals; fields as in advisor.api.transport.Sample."""

    t_s: float
    total_bytes: Annotated[int, msgspec.Meta(ge=0, le=2**62)]
    cpu_s: float
    busy_s: float
    host_s: float
    rtt_s: float | None = None
    arrived_bytes: Annotated[int, msgspec.Meta(ge=0, le=2**62)] | None = None
    granted: Annotated[dict[_Name, int], msgspec.Meta(max_length=16)] = {}


class ProbeEnded(_Reply, frozen=True, kw_only=True, tag="probe_ended"):
    """The probe has ended on this side, its ports are closed; `message` is "" on success."""

    message: _Text = ""
    kind: FailureKind | None = None
    raw_output: Annotated[str, msgspec.Meta(max_length=RAW_OUTPUT_LIMIT)] = ""


class AtWork(_Reply, frozen=True, kw_only=True, tag="at_work"):
    """Sent about once a second during file work or a step; `seen_bytes`: bytes read so far."""

    seen_bytes: _Bytes = 0


class WorkStopped(_Reply, frozen=True, kw_only=True, tag="work_stopped"):
    """The work was stopped on request, without a result."""


class FolderFound(_Reply, frozen=True, kw_only=True, tag="folder_found"):
    """The file system of the folder."""

    filesystem: Filesystem


class FileIoMeasured(_Reply, frozen=True, kw_only=True, tag="file_io_measured"):
    """The result of measuring reading or writing."""

    result: FileIoResult


class SizesFound(_Reply, frozen=True, kw_only=True, tag="sizes_found"):
    """Sizes in bytes, None for missing files."""

    sizes: Annotated[list[_Bytes | None], _Several]


class ChecksumsFound(_Reply, frozen=True, kw_only=True, tag="checksums_found"):
    """A checksum for each file, or why there is none; `seen_bytes`: bytes read for them."""

    checksums: Annotated[list[Checksum], _Several]
    seen_bytes: _Bytes


class ScratchMade(_Reply, frozen=True, kw_only=True, tag="scratch_made"):
    """The scratch folder."""

    folder: FilePath


class FilesMoved(_Reply, frozen=True, kw_only=True, tag="files_moved"):
    """Why each file could not be moved to its place, "" for success."""

    reasons: Annotated[list[Reason], _Several]


class ScratchRemoved(_Reply, frozen=True, kw_only=True, tag="scratch_removed"):
    """The scratch folder was removed."""


class StepReady(_Reply, frozen=True, kw_only=True, tag="step_ready"):
    """The step runs and the next may be started; `base_port`: the first of its ports."""

    base_port: Port


class StepEnded(_Reply, frozen=True, kw_only=True, tag="step_ended"):
    """The step's exit status, below 0 for a signal, and the ends of its output."""

    status: Annotated[int, msgspec.Meta(ge=-255, le=255)]
    output: Annotated[str, msgspec.Meta(max_length=STEP_OUTPUT_LIMIT)] = ""
    errors: Annotated[str, msgspec.Meta(max_length=STEP_OUTPUT_LIMIT)] = ""


class Refused(_Reply, frozen=True, kw_only=True, tag="refused"):
    """A failed request, with a sentence. The connection stays open, except after a bad `Hello`."""

    message: _Text


Reply: TypeAlias = (
    Welcome
    | Facts
    | EchoReady
    | EchoClosed
    | TurnAwaited
    | ProbeReady
    | ProbeSample
    | ProbeEnded
    | AtWork
    | WorkStopped
    | FolderFound
    | FileIoMeasured
    | SizesFound
    | ChecksumsFound
    | ScratchMade
    | FilesMoved
    | ScratchRemoved
    | StepReady
    | StepEnded
    | Refused
)

_REQUESTS: Final = msgspec.json.Decoder(Request)
_REPLIES: Final = msgspec.json.Decoder(Reply)
_ENCODER: Final = msgspec.json.Encoder()


def read_request(line: bytes) -> Request:
    """The request in a line. Raises msgspec.MsgspecError or ValueError for anything else."""
    if len(line) > MESSAGE_LIMIT_BYTES:
        raise ValueError("the message is too long")
    request: Request = _REQUESTS.decode(line)
    return request


def read_reply(line: bytes) -> Reply:
    """The reply in a line. Raises msgspec.MsgspecError or ValueError for anything else."""
    if len(line) > MESSAGE_LIMIT_BYTES:
        raise ValueError("the message is too long")
    reply: Reply = _REPLIES.decode(line)
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
