"""What a transport plugin is: a space, and the two ends of one memory-to-memory transfer.

The two ends, `receive` and `send`, run in child processes of their own, one on each host. They may
block, print and crash: the parent reads what they report through their `Channel` and ends them.
"""

from typing import Annotated, Protocol, runtime_checkable

import msgspec

from advisor.domain.availability import Availability
from advisor.domain.measurement import FailureKind
from advisor.domain.path import PathFacts
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
    "SpaceOptions",
    "Token",
    "Transport",
    "TransportTraits",
    "Trouble",
    "Versions",
]

Port = Annotated[int, msgspec.Meta(ge=1, le=65535)]
Token = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{32}$")]


class ReceiveOrder(msgspec.Struct, frozen=True, kw_only=True):
    """One probe, for the receiving end.

    `source_address`: the only IP address that may connect. `token`: what the sender must show.
    `ports`: the first and last port that may be opened, (0, 0) for any. `ceiling_s`: the probe is
    over after this long whatever happens. `sample_every_s`: how often to report.
    """

    setting: Setting
    source_address: str
    token: Token
    ports: tuple[int, int]
    ceiling_s: float
    sample_every_s: float


class SendOrder(msgspec.Struct, frozen=True, kw_only=True):
    """One probe, for the sending end. `address`, `port`: where the receiver listens."""

    setting: Setting
    address: str
    port: Port
    token: Token
    ceiling_s: float
    connect_timeout_s: float
    sample_every_s: float


class Sample(msgspec.Struct, frozen=True, kw_only=True, tag_field="report", tag="sample"):
    """The running totals of one end at one moment, since the data began to flow.

    `t_s`: seconds on that end's monotonic clock. `total_bytes`: got (receiver) or sent (sender).
    `cpu_s`: CPU seconds of this process. `busy_s`, `host_s`: busy and all CPU seconds of the host.
    `arrived_bytes`: what reached the receiver in whatever order, at most; None where not known.
    """

    t_s: float
    total_bytes: int
    cpu_s: float
    busy_s: float
    host_s: float
    retransmits: int | None = None
    rtt_s: float | None = None
    arrived_bytes: int | None = None
    granted: dict[str, int] = {}


class Ready(msgspec.Struct, frozen=True, kw_only=True, tag_field="report", tag="ready"):
    """The receiver listens on `port`."""

    port: Port


class Versions(msgspec.Struct, frozen=True, kw_only=True, tag_field="report", tag="versions"):
    """The tools this end moves data with."""

    versions: dict[str, str]


class Trouble(msgspec.Struct, frozen=True, kw_only=True, tag_field="report", tag="trouble"):
    """This end cannot go on. `message` is one sentence."""

    kind: FailureKind
    message: str


Report = Ready | Versions | Sample | Trouble


class Channel(Protocol):
    """How an end of a probe reports from its child process. Safe to call from any thread."""

    def ready(self, port: int) -> None:
        """The receiver listens on this port."""

    def versions(self, versions: dict[str, str]) -> None:
        """The tools and libraries in use, by name; the receiver says so before it is ready."""

    def sample(
        self,
        total_bytes: int,
        *,
        retransmits: int | None = None,
        rtt_s: float | None = None,
        arrived_bytes: int | None = None,
        granted: dict[str, int] | None = None,
    ) -> None:
        """The running totals now. The clock and CPU figures are added by the channel."""

    def trouble(self, kind: FailureKind, message: str) -> None:
        """This end cannot go on, and should return after saying so."""


class SpaceOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked of the space; None leaves the transport's own choice.

    `seen_bps`: the highest throughput measured on this path so far, whatever carried it.
    """

    buffer_scale: Scale | None = None
    max_streams: int = 25
    seen_bps: float | None = None


@runtime_checkable
class Transport(Protocol):
    """A transport that can be profiled from memory to memory.

    What a file in plugins/transports offers as `plugin`.
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
        """What is held fixed in each run: one per wanted congestion control, or one in all.

        Raises ValueError with a sentence when a wanted one is not available on both ends.
        """

    def space(self, path: PathFacts, fixed: Setting, options: SpaceOptions) -> Space:
        """The box to search on this path with `fixed` held, within what both kernels grant."""

    def baselines(self, path: PathFacts) -> list[Baseline]:
        """What a user who tunes nothing gets; empty when this transport is nobody's default."""

    def receive(self, order: ReceiveOrder, channel: Channel) -> None:
        """The receiving end; returns when the sender is done or the ceiling is reached."""

    def send(self, order: SendOrder, channel: Channel) -> None:
        """The sending end; returns when the ceiling is reached."""
