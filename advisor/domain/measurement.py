"""The outcome of a probe: a measurement, or a failure, which is an answer too."""

from enum import StrEnum
from typing import TypeAlias

import msgspec

from advisor.domain.bounded import SHORTEST_S, Figure, Moment, Span, Whole
from advisor.domain.dataset import Work
from advisor.domain.printable import escape_fields
from advisor.domain.sending import LossesSeen


class Interval(msgspec.Struct, frozen=True, array_like=True):
    """What the receiver got between two moments of a probe, in seconds since the first byte."""

    start_s: Moment
    end_s: Moment
    received_bytes: Whole

    @property
    def throughput_bps(self) -> float:
        """Mean over the interval, in bit/s; 0 for one that is too short to have a rate."""
        length_s = self.end_s - self.start_s
        return self.received_bytes * 8 / length_s if length_s >= SHORTEST_S else 0.0


class EndLoad(msgspec.Struct, frozen=True, kw_only=True):
    """The load of a probe on one end.

    `process_cores`: CPU seconds per second of the probe's own process, or of all its processes;
    1.0 is one full core. `host_share`: fraction of all the host's cores that was busy with any
    process, in [0, 1]. `thread_cores`: CPU seconds per second of the thread that used most; 1.0 is
    a thread that filled its core. Unset where that is not known, as in older versions.
    """

    process_cores: Figure
    host_share: Figure
    # Unset, it is not written: records of versions without it are written as they were.
    thread_cores: Figure | msgspec.UnsetType = msgspec.UNSET


class Measurement(msgspec.Struct, frozen=True, kw_only=True, tag_field="outcome", tag="measured"):
    """What the receiver got over the steady part of a probe.

    `throughput_bps`: mean over `intervals[steady_from:]`; `stderr_bps`: its standard error.
    `predicted`: while losses still change the rate, `throughput_bps` is not that mean but what to
    expect in the long run, from the losses seen. Unset, which is false, in all other results and
    in those of older versions.
    `settled`: the probe ended because its result was known well enough, not because its time was
    up.
    `elapsed_s`: the whole probe including set-up and closing. `granted`: socket buffer sizes in
    bytes as granted by the kernel. `versions`: of the tools that moved the data, per end.
    `overhead_s`: for a file transfer that ran to its end, the time beyond bytes ÷ throughput:
    login, connections, start-up, closing; None otherwise. `work`: for a file transfer, what was
    moved in `elapsed_s`. `losses`: what streams of TCP show of the path's losses.
    """

    throughput_bps: Figure
    stderr_bps: Figure
    intervals: list[Interval]
    steady_from: Whole
    settled: bool
    elapsed_s: Span
    retransmits: Whole | None = None
    rtt_s: Span | None = None
    sender: EndLoad | None = None
    receiver: EndLoad | None = None
    granted: dict[str, Whole] = {}
    versions: dict[str, str] = {}
    overhead_s: Figure | None = None
    # Unset, they are not written: records of versions without them are written as they were.
    predicted: bool | msgspec.UnsetType = msgspec.UNSET
    work: Work | msgspec.UnsetType = msgspec.UNSET
    losses: LossesSeen | msgspec.UnsetType = msgspec.UNSET


class FailureKind(StrEnum):
    """Why a probe has no throughput."""

    REFUSED = "refused"
    BUSY = "busy"
    RESET = "reset"
    TIMED_OUT = "timed out"
    PEER_GONE = "peer gone"
    REJECTED_SETTING = "rejected setting"
    CRASHED = "crashed"
    NO_ACCESS = "no access"
    DISK_FULL = "disk full"
    FILES_CHANGED = "files changed"
    INCOMPLETE = "incomplete"


class Failure(msgspec.Struct, frozen=True, kw_only=True, tag_field="outcome", tag="failed"):
    """A probe without a throughput. `message` is one sentence for a person, made printable."""

    kind: FailureKind
    message: str
    elapsed_s: Span

    def __post_init__(self) -> None:
        escape_fields(self, ("message",))


Outcome: TypeAlias = Measurement | Failure
"""What a probe gives: a throughput, or why there is none."""


def is_rejected(outcome: Outcome) -> bool:
    """Whether the setting was refused, which it would be again."""
    return isinstance(outcome, Failure) and outcome.kind is FailureKind.REJECTED_SETTING
