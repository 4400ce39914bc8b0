"""What joined two hosts when something was measured: by it results are found again."""

from typing import Annotated, Final

import msgspec

from advisor.domain.bounded import LinkRate, Span, Whole
from advisor.domain.path import PathFacts
from advisor.domain.printable import InterfaceName, ShownText

INTERFACES_LIMIT: Final = 64
ADDRESSES_LIMIT: Final = 8

IpAddress = Annotated[str, msgspec.Meta(min_length=2, max_length=45, pattern=r"^[0-9A-Fa-f:.]+\Z")]


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
    link_bps: LinkRate | None = None

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

    @property
    def words(self) -> str:
        """`eth1 to eth0`; an address where the interface is not known."""
        source = self.source_interface or self.source_address
        return f"{source} to {self.destination_interface or self.destination_address}"

    def is_beside(self, other: "Connection") -> bool:
        """Whether the two join the same hosts, by their names, over different interfaces.

        At one end both interface and address must differ: an interface may be renamed and an
        address changed while the network stays the same.
        """
        mine, others = ((c.source_host, c.destination_host) for c in (self, other))
        if not all(mine) or mine != others:
            return False
        return _is_elsewhere(self._source, other._source) or _is_elsewhere(
            self._destination, other._destination
        )

    @property
    def _source(self) -> tuple[str | None, str]:
        return self.source_interface, self.source_address

    @property
    def _destination(self) -> tuple[str | None, str]:
        return self.destination_interface, self.destination_address

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


class HostInterface(msgspec.Struct, frozen=True, kw_only=True):
    """An interface of a host that data may go through, with its addresses of both families.

    `link_bps`: None where it is not known.
    """

    name: InterfaceName
    mtu_bytes: Annotated[int, msgspec.Meta(ge=0, le=2**31)]
    link_bps: LinkRate | None
    addresses: Annotated[list[IpAddress], msgspec.Meta(max_length=ADDRESSES_LIMIT)]


class UsableConnection(msgspec.Struct, frozen=True, kw_only=True):
    """A connection over which the other host answers.

    `rtt_s`: one round trip or more of the idle network. `mtu_bytes`: the largest packet that
    arrived or, where none was echoed, that the kernel would send; `caution` then says so.
    """

    connection: Connection
    mtu_bytes: Whole
    rtt_s: Span
    caution: ShownText = ""


def _is_elsewhere(one: tuple[str | None, str], other: tuple[str | None, str]) -> bool:
    """Whether interface and address of the same host are known and both differ."""
    return all(one) and all(other) and one[0] != other[0] and one[1] != other[1]
