"""What is stored: one record per probe when it ends, one per session's start, one per advice.

`recorded_s` is Unix time. Records are appended and never rewritten, so a field may be added with
a default, but none renamed or removed.
"""

from typing import Any, Literal, TypeAlias

import msgspec

from advisor.domain.advice import Advice
from advisor.domain.endpoints import Pair
from advisor.domain.events import Purpose
from advisor.domain.measurement import Outcome
from advisor.domain.path import PathFacts
from advisor.domain.space import Setting


class SessionRecord(msgspec.Struct, frozen=True, kw_only=True, tag_field="record", tag="session"):
    """A session's question, whole: enough to go on with it after an interruption."""

    session: str
    pair: Pair
    recorded_s: float
    request: dict[str, Any]
    path: PathFacts


class ProbeRecord(msgspec.Struct, frozen=True, kw_only=True, tag_field="record", tag="probe"):
    """One probe: what was asked, what it gave, and by which search.

    `subject`: the transport (tcp, udt) or tool that was measured. `origin`: advisor, or the format
    it was imported from. `path` is None for imported records, whose `rtt_s` may still be known.
    `method_state` is the search's own state after being told this outcome: where a resumed session
    goes on from.
    """

    pair: Pair
    subject: str
    setting: Setting
    result: Outcome
    recorded_s: float
    session: str = ""
    stage: str = ""
    purpose: Purpose = "search"
    label: str = ""
    method: str = ""
    seed: int | None = None
    method_state: dict[str, Any] | None = None
    rtt_s: float | None = None
    mtu_bytes: int | None = None
    bandwidth_bps: float | None = None
    origin: str = "advisor"


class AdviceRecord(msgspec.Struct, frozen=True, kw_only=True, tag_field="record", tag="advice"):
    """The advice a session ended with. A complete one closes the session."""

    pair: Pair
    recorded_s: float
    advice: Advice


class ClosingRecord(msgspec.Struct, frozen=True, kw_only=True, tag_field="record", tag="closing"):
    """A session that ended for good without advice, and why."""

    session: str
    pair: Pair
    recorded_s: float
    outcome: Literal["nothing usable"]
    message: str


Record: TypeAlias = SessionRecord | ProbeRecord | AdviceRecord | ClosingRecord
