"""The nodes of a transfer over several, as users write them."""

import re
from typing import Final

import msgspec

from advisor.domain.endpoints import Endpoint, Pair

MOST_NODES = 64
_SERVER: Final = re.compile(r"[a-z][a-z0-9+.-]*://(?P<place>[^/]+)/?")


class NodePair(msgspec.Struct, frozen=True, kw_only=True):
    """A source node and the destination node that it sends to; None for the one of the transfer.

    `server_url`: of the server that the tool sends to there, None for that of the transfer on this
    host.
    """

    source: Endpoint
    destination: Endpoint | None = None
    server_url: str | None = None

    def named(self, source: str, destination: str) -> Pair:
        """The pair as the history has it, by these names for this host and the destination."""
        here = source if self.source.is_local else self.source.host
        return Pair(here, self.destination.host if self.destination else destination)


class FleetNodes(msgspec.Struct, frozen=True):
    """Pairs of hosts of a fleet, `@GROUP` or `@GROUP=@GROUP`, which its configuration resolves.

    `destinations`: a group, a host as in `NodePair`, or "" for the destination of the transfer.
    """

    sources: str
    destinations: str


def parse_nodes(text: str) -> list[NodePair | FleetNodes]:
    """`SOURCE=DESTINATION,SOURCE`: pairs of nodes, or sources alone. Raises ValueError.

    A destination may be a server, as in `ftp://dtn21:2811`. `@NAME` is a group of the fleet.
    """
    pairs = [_pair(word.strip()) for word in text.split(",")]
    if len(pairs) > MOST_NODES:
        raise ValueError(f"a transfer has {MOST_NODES} nodes at most")
    return pairs


def is_group(text: str) -> bool:
    """Whether it names hosts of a fleet."""
    return text.startswith("@")


def _pair(text: str) -> NodePair | FleetNodes:
    source, equals, destination = text.partition("=")
    if not source or (equals and not destination):
        raise ValueError("write SOURCE=DESTINATION,… or SOURCE,…, as in dtn11=dtn21,dtn12=dtn22")
    if is_group(source) or is_group(destination):
        if {"@"}.intersection((source, destination)):
            raise ValueError("write the name of a group of the fleet after @")
        return FleetNodes(source, destination)
    return node_pair(source, destination)


def node_pair(source: str, destination: str) -> NodePair:
    """A pair as typed; "" for the destination of the transfer. Raises ValueError."""
    here = Endpoint.parse(source)
    if here.lab_host:
        raise ValueError(f"'{source}' cannot be a source: nodes in a lab start on its source")
    if not destination:
        return NodePair(source=here)
    if "://" not in destination:
        return NodePair(source=here, destination=Endpoint.parse(destination))
    if (server := _SERVER.fullmatch(destination)) is None:
        raise ValueError(
            f"'{destination}' is no server: write HOST, or a URL as in ftp://HOST:PORT"
        )
    host = server["place"].rpartition("@")[2]
    name = host.partition("]")[0].lstrip("[") if host.startswith("[") else host.partition(":")[0]
    url = destination.rstrip("/")
    return NodePair(source=here, destination=Endpoint.parse(name), server_url=url)


def server_on(server_url: str | None, host: str) -> str | None:
    """The same kind of server, for the same user and on the same port of another host.

    A store, which has a path, is the same for every host; None stays None.
    """
    if server_url is None or _SERVER.fullmatch(server_url) is None:
        return server_url
    scheme, _, place = server_url.partition("://")
    user, at, name = place.rpartition("@")
    port = name.rpartition("]")[2].partition(":")[2]
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{user}{at}{shown}" + (f":{port}" if port else "")
