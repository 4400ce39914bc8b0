"""Rows of a fleet's tables, decoded. Pure.

Whoever may write there is not trusted with more than figures: texts are made printable, numbers are
checked, and what does not name a pair of the fleet is left out.
"""

from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec

from advisor.domain.printable import printable
from advisor.fleet.plan.turns import News

Outcome: TypeAlias = Literal["done", "failed", "given way", "given back"]
"""How an attempt ended: with a result; without one; because a user measures there; because its
worker ended, or is gone. Only the second counts as a failure."""

ALL: Final = ""
"""In place of a host's name: all of them."""

_Seconds = Annotated[float, msgspec.Meta(ge=0, le=2.0**33)]
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**31)]
_Name = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}\Z")]
_HostOrAll = Annotated[str, msgspec.Meta(pattern=r"^([A-Za-z0-9][A-Za-z0-9._-]{0,62})?\Z")]
_Bytes = Annotated[float, msgspec.Meta(ge=0, le=1e18)]
_Rate = Annotated[float, msgspec.Meta(gt=0, le=1e15)]
_Rtt = Annotated[float, msgspec.Meta(gt=0, le=1e4)]


class Configuration(msgspec.Struct, frozen=True, kw_only=True):
    """`fleet.toml` as it was applied. Times here and below in Unix time of the database."""

    version: _Count
    content: str
    applied_by: str
    applied_s: _Seconds


class PairState(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a pair of a task. `last_s`: of the last success; `failures`: since then.

    `gave_way`: how often it ended for a user since then, at last at `gave_way_s`. `checks`: how
    often it was measured for `news` in succession, before the last success.
    `stored_source`, `stored_destination`: the pair that the history has its records under.
    """

    task: _Name
    source: _Name
    destination: _Name
    last_s: _Seconds | None = None
    rate_bps: _Rate | None = None
    rtt_s: _Rtt | None = None
    news: News = "none"
    checks: _Count = 0
    failures: _Count = 0
    failed_s: _Seconds | None = None
    gave_way: _Count = 0
    gave_way_s: _Seconds | None = None
    message: str = ""
    stored_source: str | None = None
    stored_destination: str | None = None


class HostState(msgspec.Struct, frozen=True, kw_only=True):
    """A host that could not be reached, or at which a user measures until about `busy_until_s`."""

    host: _Name
    failures: _Count = 0
    failed_s: _Seconds | None = None
    message: str = ""
    busy_until_s: _Seconds | None = None


class Pause(msgspec.Struct, frozen=True, kw_only=True):
    """A host, or ALL, that is left alone until `until_s`; without an end for None."""

    host: _HostOrAll
    until_s: _Seconds | None = None
    paused_by: str
    paused_s: _Seconds


class Worker(msgspec.Struct, frozen=True, kw_only=True):
    """A worker; `seen_s`: when it was heard of."""

    id: _Count
    name: str
    account: str
    started_s: _Seconds
    seen_s: _Seconds


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One measurement. `most_bytes` are booked while it runs, then `moved_bytes` for 24 hours."""

    id: _Count
    worker_id: _Count
    account: str
    task: _Name
    source: _Name
    destination: _Name
    why: str
    began_s: _Seconds
    ended_s: _Seconds | None = None
    most_bytes: _Bytes
    moved_bytes: _Bytes | None = None
    outcome: Outcome | None = None
    message: str = ""
    rate_bps: _Rate | None = None
    rtt_s: _Rtt | None = None
    session: str = ""

    @property
    def counted_bytes(self) -> float:
        """What counts against the bounds of its links."""
        return self.most_bytes if self.moved_bytes is None else self.moved_bytes


def row_as(kind: type[Any], columns: list[str], row: tuple[Any, ...]) -> Any:
    """A row as this kind of struct, its texts printable; None if it is not one."""
    given = {
        name: printable(value) if isinstance(value, str) and name != "content" else value
        for name, value in zip(columns, row, strict=True)
        if value is not None
    }
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError:
        return None
