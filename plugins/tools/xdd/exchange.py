"""The command lines of both ends, from one record: if they disagree, both may hang."""

from typing import Final

import msgspec

from advisor.api.tool import NOWHERE, ZEROS, CommandRequest, TransferOrder
from advisor.api.values import PathFacts

USUAL_BASE_PORT: Final = 40010
USUAL_REQUEST_BYTES: Final = 4 * 2**20
MOST_FLOWS: Final = 124
SIZE: Final = "SIZE_IN_BYTES"
"""The placeholder for the number of bytes to move."""

_DIRECT_GRAIN_BYTES: Final = 4096
_SLOW_SHARE: Final = 0.1
_SLOW_BPS: Final = 1e8
"""The slowest rate waited for is a tenth of the path's, but at most that of a slow disk."""

_LEAST_TIMEOUT_S: Final = 60
_DAY_S: Final = 86400


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """What the two sides must agree on.

    `size_bytes`: how much to move from `offset_bytes` on; None when unknown. `direct`: whether to
    bypass the page caches. `also`: further addresses of the destination, each with its number of
    flows; their ports follow those of the first.
    """

    source: str
    destination: str
    address: str
    flows: int
    size_bytes: int | None
    offset_bytes: int = 0
    request_bytes: int = USUAL_REQUEST_BYTES
    direct: bool = False
    base_port: int = USUAL_BASE_PORT
    also: tuple[tuple[str, int], ...] = ()

    @property
    def total_flows(self) -> int:
        """Over all addresses."""
        return self.flows + sum(flows for _, flows in self.also)

    @property
    def ports(self) -> str:
        """The ports that the destination's firewall must allow."""
        last = self.base_port + self.total_flows - 1
        return f"{self.base_port} to {last}" if self.total_flows > 1 else str(self.base_port)

    def destination_argv(self) -> list[str]:
        """Started first: it receives and writes."""
        target = [*_target(self.destination), "-op", "write", "-e2e", "isdest"]
        order = ["-noordering", "-preallocate", self._size(self.offset_bytes)]
        heartbeat = ["-hb", "1", "-hb", "bytes", "-hb", "lf"]
        return ["xdd", *target, *self._common(), *order, *self._manners(), *heartbeat]

    def source_argv(self) -> list[str]:
        """Started second: it reads and sends."""
        target = [*_target(self.source), "-op", "read", "-e2e", "issource"]
        return ["xdd", *target, *self._common(), "-looseordering", *self._manners()]

    def _size(self, more_bytes: int = 0) -> str:
        return SIZE if self.size_bytes is None else str(self.size_bytes + more_bytes)

    def _common(self) -> list[str]:
        sizes = ["-reqsize", str(self.request_bytes), "-blocksize", "1", "-bytes", self._size()]
        offset = ["-startoffset", str(self.offset_bytes)] if self.offset_bytes else []
        return [*sizes, *offset, *self._ends()]

    def _ends(self) -> list[str]:
        words, port = [], self.base_port
        for address, flows in ((self.address, self.flows), *self.also):
            words += ["-e2e", "dest", f"{address}:{port},{flows}"]
            port += flows
        return words

    def _manners(self) -> list[str]:
        # For other sizes xdd reopens the file for every request, while other flows use it.
        direct = self.direct and self.offset_bytes % _DIRECT_GRAIN_BYTES == 0
        return ["-minall", "-stoponerror", *(["-dio"] if direct else [])]


def _target(path: str) -> list[str]:
    return ["-targets", "1", "null"] if path in (ZEROS, NOWHERE) else ["-target", path]


def within(timeout_s: int, argv: list[str]) -> list[str]:
    """The prefix that ends the program after a time."""
    return ["timeout", str(timeout_s), *argv]


def ample_s(path: PathFacts, size_bytes: int | None) -> int:
    """The time limit of a side: long enough for a slow transfer, so it only ends a hung one."""
    if size_bytes is None:
        return _DAY_S
    capacity_bps = path.capacity_bps or _SLOW_BPS
    slow_bps = min(capacity_bps * _SLOW_SHARE, _SLOW_BPS)
    return _LEAST_TIMEOUT_S + round(size_bytes * 8 / slow_bps)


def ipv4_of(asked: CommandRequest | TransferOrder) -> str | None:
    """The destination's IPv4 address, else its name, which may resolve to one; else None."""
    for known in (asked.path.destination_address, asked.destination_host):
        if ":" not in known:
            return known
    return None
