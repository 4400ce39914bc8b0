"""The messages between an advisor and an agent: lines of JSON, bounded, versioned and validated.

The agent greets first, with `Welcome`; the advisor answers with `Hello`. Both are kept readable
for every version to come, so that a mismatch can be told in a sentence. After that one request is
under way at a time, except that `CloseProbe` may be sent while a probe runs.
"""

from typing import Annotated, Final, TypeAlias

import msgspec

from advisor.domain.measurement import FailureKind
from advisor.domain.path import HostFacts
from advisor.domain.space import SettingValue
from advisor.transports import Port, Token

PROTOCOL: Final = 1
MESSAGE_LIMIT_BYTES: Final = 64 * 1024
RAW_OUTPUT_LIMIT: Final = 8 * 1024  # Six times that when every character is escaped.

_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=64, pattern="^[A-Za-z0-9_.-]+$")]
_Address = Annotated[str, msgspec.Meta(min_length=2, max_length=45, pattern="^[0-9A-Fa-f:.]+$")]
_Text = Annotated[str, msgspec.Meta(max_length=1024)]
_Seconds = Annotated[float, msgspec.Meta(gt=0, le=3600)]
_Setting = Annotated[dict[_Name, SettingValue], msgspec.Meta(max_length=16)]


class _Request(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="do", forbid_unknown_fields=True
):
    """What the advisor sends."""


class Hello(_Request, frozen=True, kw_only=True, tag="hello"):
    """The advisor's answer to the greeting."""

    protocol: Annotated[int, msgspec.Meta(ge=1, le=2**31)]
    version: _Text


class GetFacts(_Request, frozen=True, kw_only=True, tag="facts"):
    """Ask for the host's facts; `facing` is the advisor's own address."""

    facing: _Address


class OpenEcho(_Request, frozen=True, kw_only=True, tag="open_echo"):
    """Open a UDP echo for the path MTU; it closes by itself, or with `CloseEcho`."""

    source_address: _Address
    token: Token


class CloseEcho(_Request, frozen=True, kw_only=True, tag="close_echo"):
    """Close the echo."""


class OpenProbe(_Request, frozen=True, kw_only=True, tag="open_probe"):
    """Be the receiving end of one probe, when it is this advisor's turn."""

    transport: _Name
    setting: _Setting
    source_address: _Address
    token: Token
    ceiling_s: _Seconds
    sample_every_s: _Seconds


class CloseProbe(_Request, frozen=True, kw_only=True, tag="close_probe"):
    """End the probe: close its ports and give up the turn."""


Request: TypeAlias = Hello | GetFacts | OpenEcho | CloseEcho | OpenProbe | CloseProbe


class _Reply(msgspec.Struct, frozen=True, kw_only=True, tag_field="say"):
    """What the agent sends. Unknown fields are passed over: a newer agent may say more."""


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
    """Others are measuring; `ahead` come first. Sent again when that changes."""

    ahead: Annotated[int, msgspec.Meta(ge=0, le=10000)]


class ProbeReady(_Reply, frozen=True, kw_only=True, tag="probe_ready"):
    """The receiving end listens on this port and moves data with these versions."""

    port: Port
    versions: Annotated[dict[_Name, _Text], msgspec.Meta(max_length=16)] = {}


class ProbeSample(_Reply, frozen=True, kw_only=True, tag="probe_sample"):
    """The receiving end's running totals; fields as in advisor.transports.Sample."""

    t_s: float
    total_bytes: Annotated[int, msgspec.Meta(ge=0, le=2**62)]
    cpu_s: float
    busy_s: float
    host_s: float
    rtt_s: float | None = None
    arrived_bytes: Annotated[int, msgspec.Meta(ge=0, le=2**62)] | None = None
    granted: Annotated[dict[_Name, int], msgspec.Meta(max_length=16)] = {}


class ProbeEnded(_Reply, frozen=True, kw_only=True, tag="probe_ended"):
    """The probe is over on this side, its ports are closed; `message` is "" when all went well."""

    message: _Text = ""
    kind: FailureKind | None = None
    raw_output: Annotated[str, msgspec.Meta(max_length=RAW_OUTPUT_LIMIT)] = ""


class Refused(_Reply, frozen=True, kw_only=True, tag="refused"):
    """A request that cannot be met, in a sentence. The connection stays, but for a bad `Hello`."""

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
    | Refused
)

_REQUESTS: Final = msgspec.json.Decoder(Request)
_REPLIES: Final = msgspec.json.Decoder(Reply)
_ENCODER: Final = msgspec.json.Encoder()


def read_request(line: bytes) -> Request:
    """The request a line holds. Raises msgspec.MsgspecError or ValueError for anything else."""
    if len(line) > MESSAGE_LIMIT_BYTES:
        raise ValueError("the message is too long")
    request: Request = _REQUESTS.decode(line)
    return request


def read_reply(line: bytes) -> Reply:
    """The reply a line holds. Raises msgspec.MsgspecError or ValueError for anything else."""
    if len(line) > MESSAGE_LIMIT_BYTES:
        raise ValueError("the message is too long")
    reply: Reply = _REPLIES.decode(line)
    return reply


def as_line(message: Request | Reply) -> bytes:
    """The message as it goes over the wire."""
    return _ENCODER.encode(message) + b"\n"


def mismatch(protocol: int, version: str) -> str:
    """The sentence for a peer whose protocol is not ours."""
    age = "an older" if protocol < PROTOCOL else "a newer"
    return (
        f"the other side runs advisor {version}, which speaks {age} protocol "
        f"({protocol}, here {PROTOCOL}): install the same version on both sides"
    )
