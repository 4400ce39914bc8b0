"""The nodes of a transfer that are named by groups of the fleet. Pure."""

from itertools import cycle

from advisor.domain.nodes import FleetNodes, NodePair, is_group, node_pair
from advisor.fleet.configuration.reading import BadFleet, decoded
from advisor.fleet.configuration.resolving import resolved
from advisor.fleet.configuration.selecting import Selector


def nodes_of_fleet(content: str, wanted: FleetNodes) -> list[NodePair]:
    """A node for each source, the destinations in turn, in the order of the configuration.

    `content`: of `fleet.toml`. A name may be that of a group, a host or a tag. Raises BadFleet for
    a name that is not there, or a configuration that cannot be used.
    """
    file = decoded(content.encode())
    hosts = resolved(file).hosts
    selector = Selector(hosts, {name: one.hosts for name, one in file.groups.items()})

    def side(text: str) -> list[str]:
        if not is_group(text):
            return [text]
        numbers = selector.hosts(("--via",), [text.removeprefix("@")])
        return [hosts[number].reach for number in numbers]

    try:
        pairs = zip(side(wanted.sources), cycle(side(wanted.destinations)), strict=False)
        return [node_pair(*pair) for pair in pairs]
    except ValueError as error:
        raise BadFleet.about("", error) from None
