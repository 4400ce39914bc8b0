"""Whether a source may write to the history what it says that it measured.

A session of another host is as its source says: the source's own host name, and a session that it
has made up. It may take neither from others: no name of another host of the fleet, and no session
that is there already.
"""

from collections.abc import Set
from typing import TYPE_CHECKING

from advisor.domain.endpoints import Endpoint, Pair
from advisor.domain.problem import ProblemError, ProblemKind
from advisor.fleet.plan.fleet import Fleet, Host

# Its library is there only where a fleet is used.
if TYPE_CHECKING:
    from advisor.fleet.state.connecting import DatabaseConnection


class NotItsOwn(ProblemError, ValueError):
    """A source sends records as another host, or into a session that it has not begun."""

    kind = ProblemKind.REFUSED


def require_own(
    connection: "DatabaseConnection", fleet: Fleet, source: Host, pair: Pair, session: str
) -> None:
    """See that a session that begins is the source's own. Raises NotItsOwn, psycopg.Error."""
    called_so = connection.execute(
        "SELECT DISTINCT source FROM advisor.fleet_pairs WHERE stored_source = %s", (pair.source,)
    )
    other = owner_of(fleet, source, pair.source, {str(row[0]) for row in called_so})
    if other is not None:
        raise NotItsOwn(
            f"{source.name} calls itself {pair.source}, which is {other.name} of this fleet",
            remedy="give each host a host name of its own, and write it as the `reach` of the one "
            "that has it",
        )
    there = connection.execute(
        "SELECT FROM advisor.sessions s JOIN advisor.pairs p ON p.id = s.pair_id"
        " WHERE p.source = %s AND p.destination = %s AND s.session = %s",
        (pair.source, pair.destination, session),
    )
    if there.fetchone() is not None:
        raise NotItsOwn(f"{source.name} sends records of session {session}, which is there already")


def owner_of(fleet: Fleet, source: Host, name: str, called_so: Set[str]) -> Host | None:
    """The other host whose name it is; None for a name that the source may have.

    `called_so`: the hosts of which the history has results under this name. What the configuration
    says counts first, and tables of one machine have its name together.
    """
    machine = Endpoint.parse(source.reach).host
    own = [one for one in fleet.hosts if Endpoint.parse(one.reach).host == machine]
    others = [one for one in fleet.hosts if one not in own]
    if any(_is_named(host, name) for host in own):
        return None
    for host in others:
        if _is_named(host, name):
            return host
    if any(host.name in called_so for host in own):
        return None
    return next((host for host in others if host.name in called_so), None)


def _is_named(host: Host, name: str) -> bool:
    """Whether the configuration has this name for a host, with or without its domain."""
    endpoint = Endpoint.parse(host.reach)
    known = [host.name] if endpoint.is_local else [host.name, endpoint.host]
    return any(_is_same(one.lower(), name.lower()) for one in known)


def _is_same(one: str, other: str) -> bool:
    return one == other or one.partition(".")[0] == other or other.partition(".")[0] == one
