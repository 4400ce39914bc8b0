"""The two programs of one measured transfer."""

from typing import Final

from advisor.api.tool import Step, TransferOrder

from .exchange import USUAL_BASE_PORT, Exchange, ample_s, ipv4_of, within
from .names import why_not

READY: Final = "All targets should start now"
"""What the destination prints once it listens on all its ports."""


def steps_for(order: TransferOrder) -> list[Step]:
    """The destination's, which listens first, and the source's.

    The destination has its own time limit, because it waits forever if no source connects. The
    source has none: `timeout` would be the parent of the process whose sockets are observed.
    Raises ValueError for what xdd cannot do.
    """
    exchange = _exchange(order)
    destination = within(ample_s(order.path, exchange.size_bytes), exchange.destination_argv())
    return [
        Step(side="destination", argv=destination, ready=READY),
        Step(side="source", argv=exchange.source_argv()),
    ]


def _exchange(order: TransferOrder) -> Exchange:
    if len(order.pieces) != 1:
        raise ValueError("xdd moves one file at a time: give --data a single file")
    [piece] = order.pieces
    if not piece.size_bytes:
        raise ValueError("xdd cannot move an empty file: give --data another one")
    address = ipv4_of(order)
    if address is None:
        raise ValueError("xdd supports IPv4 only: name the destination by an IPv4 address")
    for path in (piece.source, piece.target):
        if why := why_not(path):
            raise ValueError(f"xdd cannot open {path[:40]}…: {why}; use a shorter one")
    return Exchange(
        source=piece.source,
        destination=piece.target,
        address=address,
        flows=int(order.setting["streams"]),
        size_bytes=piece.size_bytes,
        offset_bytes=piece.offset_bytes,
        request_bytes=int(order.setting["request_bytes"]),
        direct=bool(order.setting["direct"]),
        base_port=order.base_port or USUAL_BASE_PORT,
    )
