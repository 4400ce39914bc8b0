"""What is said to a lab that is up, over its control socket: a line of JSON each way.

`msgspec` validates what comes; the socket is for the lab's owner alone.
"""

from typing import Final

import msgspec

from advisor.lab.paths import Changes, Direction, EmulatedPath

LINE_BYTES: Final = 1 << 20
MOST_TRANSFERS: Final = 128
MOST_COMPUTE: Final = 256


class Change(msgspec.Struct, frozen=True, kw_only=True, tag="set"):
    """Change the path to a host, or to all. `which`: forward or reverse, None for both."""

    changes: Changes
    host: str | None = None
    which: str | None = None


class Cut(msgspec.Struct, frozen=True, kw_only=True, tag="cut"):
    """Let nothing through to and from a host any more, or again. None means every host."""

    is_cut: bool
    host: str | None = None


class Load(msgspec.Struct, frozen=True, kw_only=True, tag="load"):
    """Have this much external load from now on; None leaves what is.

    `transfers`: ext.tfr, parallel TCP streams from the source to `host` (None: the first).
    `compute`: ext.cmp, processes that multiply dense matrices.
    """

    transfers: int | None = None
    compute: int | None = None
    host: str | None = None


class Ask(msgspec.Struct, frozen=True, tag="ask"):
    """Say how things are."""


Action = Change | Cut | Load


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """A change that is to happen so many seconds after the schedule began."""

    at_s: float
    actions: list[Action]


class Play(msgspec.Struct, frozen=True, kw_only=True, tag="play"):
    """Begin this schedule now, in place of one that still runs; without steps, stop that one."""

    steps: list[Step]


Order = Change | Cut | Load | Ask | Play


class Crossing(msgspec.Struct, frozen=True, kw_only=True):
    """What one direction of a path has carried so far, in packets and bytes at the IP layer.

    `dropped`: found the queue full. `lost`: by the random loss that was asked for. `cut`: while the
    path was cut. `queue_bytes`: what waits now; `queue_most_bytes`: the most that ever did; None
    where the kernel does not say.
    """

    packets: int = 0
    bytes: int = 0
    dropped: int = 0
    lost: int | None = 0
    cut: int = 0
    queue_bytes: float | None = 0.0
    queue_most_bytes: float | None = 0.0


class Lateness(msgspec.Struct, frozen=True, kw_only=True):
    """How long after their time packets were handed over, in seconds: whether the machine keeps up.

    `p99_s`: 99 of 100 packets were at most this late. `most_s`: the worst.
    """

    p99_s: float
    most_s: float


class HostStatus(msgspec.Struct, frozen=True, kw_only=True):
    """A far host and the path to it. `is_cut`: whether nothing gets through at present."""

    name: str
    address: str
    gridftp_url: str | None
    path: EmulatedPath
    is_cut: bool
    forward: Crossing
    reverse: Crossing
    gridftp_folder: str | None = None


class LabStatus(msgspec.Struct, frozen=True, kw_only=True):
    """How a lab is.

    `own`: the source's own interface, where it was given a rate that the paths share; then
    `own_forward` and `own_reverse` say what it carried. `schedule`: steps still to come, their
    times counted from now. `lateness`: None where the kernel emulates and does not say.
    """

    name: str
    backend: str
    user_namespace: bool
    up_s: float
    source: str
    hosts: list[HostStatus]
    transfers: int
    compute: int
    schedule: list[Step]
    own: Direction | None = None
    own_forward: Crossing | None = None
    own_reverse: Crossing | None = None
    lateness: Lateness | None = None
    without: list[str] = []


class Refused(msgspec.Struct, frozen=True, tag="refused"):
    """It was not done; why, in a sentence."""

    message: str


class Done(msgspec.Struct, frozen=True, tag="done"):
    """It was done; how things are now."""

    status: LabStatus


Reply = Done | Refused
