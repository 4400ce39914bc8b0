"""The messages to a running lab over its control socket: a line of JSON each way.

`msgspec` validates them; only the lab's owner may use the socket.
"""

from typing import Final

import msgspec

from advisor.lab.paths import Changes, Direction, EmulatedPath

LINE_BYTES: Final = 1 << 20
MOST_TRANSFERS: Final = 128
MOST_COMPUTE: Final = 256


class SetPath(msgspec.Struct, frozen=True, kw_only=True, tag="set"):
    """Change the path to a host, or to all. `which`: forward or reverse, None for both."""

    changes: Changes
    host: str | None = None
    which: str | None = None


class Cut(msgspec.Struct, frozen=True, kw_only=True, tag="cut"):
    """Cut the path to and from a host, or restore it. None means every host."""

    is_cut: bool
    host: str | None = None


class SetLoad(msgspec.Struct, frozen=True, kw_only=True, tag="load"):
    """Set the external load; None leaves it unchanged.

    `transfers`: ext.tfr, parallel TCP streams from the source to `host` (None: the first).
    `compute`: ext.cmp, processes that multiply dense matrices.
    """

    transfers: int | None = None
    compute: int | None = None
    host: str | None = None


class GetStatus(msgspec.Struct, frozen=True, tag="ask"):
    """Request the status."""


Action = SetPath | Cut | SetLoad


class ScheduledStep(msgspec.Struct, frozen=True, kw_only=True):
    """Changes at a time in seconds after the schedule started."""

    at_s: float
    actions: list[Action]


class Play(msgspec.Struct, frozen=True, kw_only=True, tag="play"):
    """Start this schedule now, replacing a running one; without steps, stop that one."""

    steps: list[ScheduledStep]


LabCommand = SetPath | Cut | SetLoad | GetStatus | Play


class Crossing(msgspec.Struct, frozen=True, kw_only=True):
    """The traffic of one direction of a path so far, in packets and bytes at the IP layer.

    `dropped`: at a full queue. `lost`: by the requested random loss. `cut`: while the path was cut.
    `queue_bytes`: in the queue now; `queue_most_bytes`: its maximum so far; None where the kernel
    does not report them.
    """

    packets: int = 0
    bytes: int = 0
    dropped: int = 0
    lost: int | None = 0
    cut: int = 0
    queue_bytes: float | None = 0.0
    queue_most_bytes: float | None = 0.0


class Lateness(msgspec.Struct, frozen=True, kw_only=True):
    """The delay of packets beyond their time, in seconds: whether the machine keeps up.

    `p99_s`: the 99th percentile. `most_s`: the maximum.
    """

    p99_s: float
    most_s: float


class HostStatus(msgspec.Struct, frozen=True, kw_only=True):
    """A far host and the path to it. `is_cut`: whether the path is cut now."""

    name: str
    address: str
    gridftp_url: str | None
    path: EmulatedPath
    is_cut: bool
    forward: Crossing
    reverse: Crossing
    gridftp_folder: str | None = None


class LabStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The status of a lab.

    `own`: the source's own interface, if it has a rate that the paths share; `own_forward` and
    `own_reverse` are then its traffic. `schedule`: future steps, with times relative to now.
    `lateness`: None where the kernel emulates and does not report it.
    """

    name: str
    backend: str
    user_namespace: bool
    up_s: float
    source: str
    hosts: list[HostStatus]
    transfers: int
    compute: int
    schedule: list[ScheduledStep]
    own: Direction | None = None
    own_forward: Crossing | None = None
    own_reverse: Crossing | None = None
    lateness: Lateness | None = None
    without: list[str] = []


class CommandFailed(msgspec.Struct, frozen=True, tag="refused"):
    """The command failed; why, in a sentence."""

    message: str


class CommandDone(msgspec.Struct, frozen=True, tag="done"):
    """The command succeeded; the status now."""

    status: LabStatus


LabReply = CommandDone | CommandFailed
