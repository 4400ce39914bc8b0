"""What joined two hosts when something was measured: by it results are found again."""

import msgspec

from advisor.domain.path import PathFacts
from advisor.domain.printable import InterfaceName, ShownText


class Connection(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Two data addresses, and the hosts and interfaces that had them (ProbData 2017, IV.A).

    `source_host`, `destination_host`: what each host calls itself. `link_bps`: the slower of the
    two interfaces in bit/s. None or "" where it is not known.
    """

    source_address: ShownText = ""
    destination_address: ShownText = ""
    source_host: ShownText = ""
    destination_host: ShownText = ""
    source_interface: InterfaceName | None = None
    destination_interface: InterfaceName | None = None
    link_bps: float | None = None

    @classmethod
    def of(cls, path: PathFacts) -> "Connection":
        """The one that this path goes over."""
        return cls(
            source_address=path.source_address,
            destination_address=path.destination_address,
            source_host=path.source.hostname,
            destination_host=path.destination.hostname,
            source_interface=path.source.interface,
            destination_interface=path.destination.interface,
            link_bps=path.link_bps,
        )

    def joins_the_hosts_of(self, other: "Connection") -> bool:
        """Whether both have the same two hosts, by address and by the name each calls itself.

        One of the two is not enough: an address is given to another host in time, and hosts behind
        one NAT or made from one image may share a name.
        """
        mine, others = (
            (c.source_host, c.source_address, c.destination_host, c.destination_address)
            for c in (self, other)
        )
        return all(mine) and mine == others
