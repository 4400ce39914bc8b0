"""What is stored: one record per probe when it ends, one per session start, one per advice,
and later remarks on them.

`recorded_s` is Unix time. Records are appended and never rewritten, so a field may be added with
a default, but none renamed or removed.
"""

from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from advisor.domain.advice import Advice
from advisor.domain.bounded import ByteCount, Figure, Lasted, Span, UnixTime, Whole
from advisor.domain.connection import Connection
from advisor.domain.endpoints import Pair
from advisor.domain.events import Purpose
from advisor.domain.grid import Grid
from advisor.domain.measurement import Outcome
from advisor.domain.path import PathFacts
from advisor.domain.printable import ShownText
from advisor.domain.shares import Served, SharePurpose
from advisor.domain.space import Setting


class SessionRecord(msgspec.Struct, frozen=True, kw_only=True, tag_field="record", tag="session"):
    """The complete request of a session: enough to resume it after an interruption."""

    session: str
    pair: Pair
    recorded_s: UnixTime
    request: dict[str, Any]
    path: PathFacts


class ProbeRecord(msgspec.Struct, frozen=True, kw_only=True, tag_field="record", tag="probe"):
    """One probe: its setting, its outcome, and the search that asked for it.

    `subject`: the transport (tcp, udt) or tool that was measured. `origin`: advisor, or the format
    it was imported from. `path` is None for imported records, whose `rtt_s` may still be known.
    `method_state` is the search's own state after this outcome: a resumed session continues from
    it. `recommended`: the setting that search would then use and its expected throughput in bit/s,
    where the search predicts a better one than its best measurement. `file_bytes`, `files`: the
    mean size and the number of the files that a tool moved part of; None from memory to memory.
    `buffer_bytes`: the largest socket buffer available on this path, None where it is not known.
    `connection`: not in records of versions before it was asked, nor in imported ones.
    `by`: of an imported one, the other account that imported it, where several share a history; the
    database says so, and it is no part of the record's identity.
    """

    pair: Pair
    subject: str
    setting: Setting
    result: Outcome
    recorded_s: UnixTime
    session: str = ""
    stage: str = ""
    purpose: Purpose = "search"
    label: str = ""
    method: str = ""
    seed: Whole | None = None
    method_state: dict[str, Any] | None = None
    recommended: tuple[Setting, Figure] | None = None
    rtt_s: Span | None = None
    mtu_bytes: Whole | None = None
    bandwidth_bps: Figure | None = None
    origin: str = "advisor"
    file_bytes: Figure | None = None
    files: Whole | None = None
    buffer_bytes: Whole | None = None
    # Unset, it is not written: records of versions without it are written as they were.
    connection: Connection | msgspec.UnsetType = msgspec.UNSET
    by: ShownText | msgspec.UnsetType = msgspec.UNSET


class AdviceRecord(msgspec.Struct, frozen=True, kw_only=True, tag_field="record", tag="advice"):
    """The advice that ended a session. A complete one closes the session."""

    pair: Pair
    recorded_s: UnixTime
    advice: Advice


class ClosingRecord(msgspec.Struct, frozen=True, kw_only=True, tag_field="record", tag="closing"):
    """A session that ended permanently without advice, and why."""

    session: str
    pair: Pair
    recorded_s: UnixTime
    outcome: Literal["nothing usable"]
    message: str


class RemarkRecord(msgspec.Struct, frozen=True, kw_only=True, tag_field="record", tag="remark"):
    """A user's remark on a session, or on the one probe in it that was recorded at `probe_s`.

    `note`: a `text` to remember. `outlier`: it does not count as a result. `deleted`: the whole
    session is hidden and does not count. `on` False withdraws the same remark made before.
    `by`: the account that made it, where several share a history; the database says so, and it is
    no part of the remark's identity. Nor is `importer`: it is only about probes that this account
    has imported, as in their `by`; "" for those without.
    Raises ValueError for the deletion of a single probe.
    """

    pair: Pair
    recorded_s: UnixTime
    session: str
    probe_s: UnixTime | None = None
    kind: Literal["note", "outlier", "deleted"]
    text: str = ""
    on: bool = True
    by: ShownText | msgspec.UnsetType = msgspec.UNSET
    importer: ShownText | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        if self.kind == "deleted" and self.probe_s is not None:
            raise ValueError("a single probe cannot be deleted: mark it as an outlier")


class TransferRecord(msgspec.Struct, frozen=True, kw_only=True, tag_field="record", tag="transfer"):
    """The result of a real transfer that followed a session's advice.

    `total_bytes` arrived in `elapsed_s`; raises ValueError unless both are above zero.
    """

    pair: Pair
    recorded_s: UnixTime
    session: str
    total_bytes: ByteCount
    elapsed_s: Lasted
    note: str = ""

    def __post_init__(self) -> None:
        if self.total_bytes <= 0 or self.elapsed_s <= 0:
            raise ValueError("a transfer moves at least one byte and takes more than zero time")

    @property
    def rate_bps(self) -> float:
        """Mean over the whole transfer, in bit/s."""
        return self.total_bytes * 8 / self.elapsed_s


class ShareRecord(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    tag_field="record",
    tag="share",
    omit_defaults=True,
):
    """What a destination got in a period in which others of the same source were served too.

    `others`: their concurrencies. `parallelism`: streams of each of its files; where `served` does
    not have them, as in records of older versions, those of all destinations. `tool`: what moved
    the files, "" in records of older versions, which had the usual one.
    """

    pair: Pair
    recorded_s: UnixTime
    session: str
    served: Served
    parallelism: Whole
    others: dict[str, Whole]
    purpose: SharePurpose
    tool: ShownText = ""


class ProfileRecord(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    tag_field="record",
    tag="profile",
    omit_defaults=True,
):
    """A profile: its name, and the measurements it consists of.

    Those are the probes of the same `session`; or, of a profile made from the history, the probes
    with these `members` as digests (see store/identity.py). `grids`: what was declared, empty for a
    profile made from what there was. Each setting is measured `repeats` times in an order that
    `seed` decides. `request` resumes it, and is empty where it cannot be. `path`: as it was at the
    start, None where it was not recorded. `about`: where and for what it was measured.
    """

    session: str
    pair: Pair
    recorded_s: UnixTime
    name: ShownText
    path: PathFacts | None = None
    grids: list[Grid] = []
    repeats: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 1
    seed: Whole = 0
    request: dict[str, Any] = {}
    members: list[ShownText] = []
    about: ShownText = ""


Record: TypeAlias = (
    SessionRecord
    | ProbeRecord
    | AdviceRecord
    | ClosingRecord
    | RemarkRecord
    | TransferRecord
    | ShareRecord
    | ProfileRecord
)
