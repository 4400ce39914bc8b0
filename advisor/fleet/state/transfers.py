"""The transfers over several nodes that a database knows, as anybody may see them."""

from typing import Annotated, Any, Final, Literal

import msgspec
from psycopg.rows import dict_row

from advisor.domain.printable import printable
from advisor.fleet.plan.fleet import Fleet
from advisor.fleet.state.connecting import DatabaseConnection

GONE_S: Final = 60.0
"""A transfer that was not heard of for this long is taken for interrupted."""

_MOST: Final = 100
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**62)]
_Seconds = Annotated[float, msgspec.Meta(ge=0, le=2.0**33)]


class NodeStanding(msgspec.Struct, frozen=True, kw_only=True):
    """How one node does, or did last. `message`: what sort of thing went wrong, "" for nothing."""

    number: _Count
    source: str
    destination: str
    state: Literal["connecting", "moving", "lost", "ended"]
    moved_bytes: _Count
    rate_bps: Annotated[float, msgspec.Meta(ge=0, le=1e15)]
    clients: _Count
    streams: _Count
    message: str


class TransferStanding(msgspec.Struct, frozen=True, kw_only=True):
    """One transfer; times in Unix time of the database, which has `now_s`.

    `left_bytes`: of this run, in lots that have not arrived completely.
    """

    id: _Count
    account: str
    source: str
    destination: str
    total_bytes: _Count
    left_bytes: _Count
    began_s: _Seconds
    seen_s: _Seconds
    now_s: _Seconds
    ended_s: _Seconds | None
    message: str
    nodes: list[NodeStanding] = []

    @property
    def state(self) -> str:
        """In a word or two."""
        if self.ended_s is not None:
            return self.message or "ended"
        # One that was seen later than now is gone since the clock was set back.
        return "interrupted" if abs(self.now_s - self.seen_s) > GONE_S else "runs"


class Moving(msgspec.Struct, frozen=True):
    """A transfer that uses hosts of a fleet. `until_s`: how long these are left alone unless it is
    heard of again. `pairs`: of each node, the source and the destination by their names in the
    fleet, "" for a host that is not in it."""

    until_s: float
    pairs: list[tuple[str, str]]

    @property
    def hosts(self) -> set[str]:
        """The hosts of the fleet."""
        return {name for pair in self.pairs for name in pair if name}


def moving(connection: DatabaseConnection, fleet: Fleet) -> list[Moving]:
    """The transfers that run, where they concern the fleet."""
    # A node is named as the history has it: without the user, a destination by its agent.
    known = {host.destination_name: host.name for host in fleet.hosts}
    known |= {host.reach.rpartition("@")[2]: host.name for host in fleet.hosts}
    known |= {host.name: host.name for host in fleet.hosts}
    found = []
    for one in transfers_of(connection, with_ended=False):
        pairs = [(known.get(n.source, ""), known.get(n.destination, "")) for n in one.nodes]
        if one.state == "runs" and any(any(pair) for pair in pairs):
            found.append(Moving(min(one.seen_s, one.now_s) + GONE_S, pairs))
    return found


def transfers_of(connection: DatabaseConnection, *, with_ended: bool) -> list[TransferStanding]:
    """The transfers that have not ended, or with those that have, the newest first."""
    which = "TRUE" if with_ended else "ended_s IS NULL"
    rows = _rows(
        connection,
        "SELECT *, advisor.fleet_now() AS now_s FROM advisor.transfers"
        f" WHERE {which} ORDER BY id DESC LIMIT {_MOST}",
    )
    numbers = [row["id"] for row in rows]
    nodes: dict[int, list[dict[str, Any]]] = {}
    for row in _rows(
        connection,
        "SELECT * FROM advisor.transfer_nodes WHERE transfer_id = ANY (%s) ORDER BY number",
        numbers,
    ):
        nodes.setdefault(row["transfer_id"], []).append(row)
    # A row that is none is of an account that may write anything there: it is left out.
    found = []
    for row in rows:
        try:
            whole = row | {"nodes": nodes.get(row["id"], [])}
            found.append(msgspec.convert(whole, TransferStanding))
        except msgspec.ValidationError:
            continue
    return found


def _rows(connection: DatabaseConnection, question: str, *values: object) -> list[dict[str, Any]]:
    with connection.cursor(row_factory=dict_row) as cursor:
        return [
            {name: printable(one) if isinstance(one, str) else one for name, one in row.items()}
            for row in cursor.execute(question, values)
        ]
