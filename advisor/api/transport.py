"""The interface of a transport plugin: a space, and both ends of a memory-to-memory transfer.

The two ends, `receive` and `send`, run in separate child processes, one on each host. They may
block, print and crash: the parent reads their reports through the `Channel` and ends them.
"""

from typing import Annotated, Protocol, runtime_checkable

import msgspec

from advisor.domain.availability import Availability
from advisor.domain.bounded import ByteCount, Clock, Span, Whole
from advisor.domain.measurement import FailureKind
from advisor.domain.path import PathFacts
from advisor.domain.sending import SendingState
from advisor.domain.space import Baseline, Scale, Setting, Space
from advisor.domain.traits import TransportTraits

__all__ = [
    "Channel",
    "Port",
    "Ready",
    "ReceiveOrder",
    "Report",
    "Sample",
    "SendOrder",
    "SendingState",
    "SpaceOptions",
    "Token",
    "Transport",
    "TransportTraits",
    "Trouble",
    "Versions",
    "WithProcesses",
]

Port = Annotated[int, msgspec.Meta(ge=1, le=65535)]
"""The number of a port of TCP or UDP."""

Token = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{32}\Z")]
"""32 hexadecimal digits: what the sender of a probe must send first."""


class ReceiveOrder(msgspec.Struct, frozen=True, kw_only=True):
    """One probe, for the receiving end.

    `source_address`: the only IP address that may connect. `own_address`: the address of this host
    that it connects to, as it says; "" where it does not. `token`: the first bytes that the sender
    must send. `ports`: the first and last port that may be opened, (0, 0) for any. `ceiling_s`: the
    time limit of the probe. `sample_every_s`: how often to report.
    """

    setting: Setting
    source_address: str
    token: Token
    ports: tuple[int, int]
    ceiling_s: float
    sample_every_s: float
    own_address: str = ""


class SendOrder(msgspec.Struct, frozen=True, kw_only=True):
    """One probe, for the sending end. `address`, `port`: where the receiver listens.

    `own_address`: the address of this host to send from; "" where the kernel chooses.
    """

    setting: Setting
    address: str
    port: Port
    token: Token
    ceiling_s: float
    connect_timeout_s: float
    sample_every_s: float
    own_address: str = ""


class Sample(msgspec.Struct, frozen=True, kw_only=True, tag_field="report", tag="sample"):
    """The running totals of one end at one moment, since the data began to flow.

    `t_s`: seconds on that end's monotonic clock. `total_bytes`: received or sent.
    `cpu_s`: CPU seconds of this process. `busy_s`, `host_s`: busy and all CPU seconds of the host.
    `thread_cpu_s`: CPU seconds of the thread of this process that has used most, None if unknown.
    `arrived_bytes`: upper bound of what reached the receiver in any order; None if unknown.
    `sending`: of a sender over TCP, the state of its streams.
    """

    t_s: Clock
    total_bytes: ByteCount
    cpu_s: Clock
    busy_s: Clock
    host_s: Clock
    retransmits: Whole | None = None
    rtt_s: Span | None = None
    arrived_bytes: ByteCount | None = None
    granted: dict[str, Whole] = {}
    sending: SendingState | None = None
    thread_cpu_s: Clock | None = None


class Ready(msgspec.Struct, frozen=True, kw_only=True, tag_field="report", tag="ready"):
    """The receiver listens on `port`."""

    port: Port


class Versions(msgspec.Struct, frozen=True, kw_only=True, tag_field="report", tag="versions"):
    """The tools this end moves data with."""

    versions: dict[str, str]


class Trouble(msgspec.Struct, frozen=True, kw_only=True, tag_field="report", tag="trouble"):
    """This end cannot continue. `message` is one sentence."""

    kind: FailureKind
    message: str


Report = Ready | Versions | Sample | Trouble
"""What an end of a probe reports."""


class Channel(Protocol):
    """How an end of a probe reports from its child process. Safe to call from any thread."""

    def ready(self, port: int) -> None:
        """The receiver listens on this port."""

    def versions(self, versions: dict[str, str]) -> None:
        """The tools and libraries in use, by name; the receiver reports them before it is ready."""

    def sample(
        self,
        total_bytes: int,
        *,
        retransmits: int | None = None,
        rtt_s: float | None = None,
        arrived_bytes: int | None = None,
        granted: dict[str, int] | None = None,
        sending: SendingState | None = None,
    ) -> None:
        """The running totals now. The clock and CPU figures are added by the channel."""

    def trouble(self, kind: FailureKind, message: str) -> None:
        """This end cannot continue, and should return after this report."""


class SpaceOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The user's limits of the space; None leaves the transport's default.

    `seen_bps`: the highest throughput measured on this path so far, with any subject.
    """

    buffer_scale: Scale | None = None
    max_streams: int = 25
    seen_bps: float | None = None


@runtime_checkable
class Transport(Protocol):
    """A transport that can be profiled from memory to memory.

    A file in plugins/transports exports it as `plugin`.
    """

    @property
    def name(self) -> str:
        """`tcp`, `udt`: the name on the command line and in records."""

    @property
    def summary(self) -> str:
        """One line for `advisor plugins`."""

    def available(self) -> Availability:
        """Whether it can run on this machine."""

    def variants(self, path: PathFacts, congestion: list[str]) -> list[Setting]:
        """What is held fixed in each run: one per requested congestion control, or just one.

        Raises ValueError with a sentence when a requested one is not available on both ends.
        """

    def space(self, path: PathFacts, fixed: Setting, options: SpaceOptions) -> Space:
        """The space to search on this path with `fixed` held, within what both kernels grant."""

    def baselines(self, path: PathFacts) -> list[Baseline]:
        """The settings without tuning; empty when no tool uses this transport by default."""

    def receive(self, order: ReceiveOrder, channel: Channel) -> None:
        """The receiving end; returns when the sender is done or the time limit is reached."""

    def send(self, order: SendOrder, channel: Channel) -> None:
        """The sending end; returns when the time limit is reached."""


@runtime_checkable
class WithProcesses(Protocol):
    """A transport whose flows can be spread over several processes of its program.

    Such a probe has a sending and a receiving end for each process, on ports of their own: each is
    ordered its part of the flows, in a setting without `processes`.
    """

    def most_processes(self, path: PathFacts) -> int:
        """How many are worth a try if a core was full with one; 1 where more cannot help."""
