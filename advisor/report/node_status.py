"""Transfers over several nodes as text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from advisor.domain.quantities import format_bytes, format_duration, format_rate
from advisor.report.output import say
from advisor.report.tables import print_table

# Its library is there only where a fleet is used.
if TYPE_CHECKING:
    from advisor.fleet.state.transfers import NodeStanding, TransferStanding

_COLUMNS: Final = ("node", "source", "destination", "state", "rate", "moved", "clients", "why")


def print_transfers(found: "Sequence[TransferStanding]") -> None:
    """Print each transfer, with a table of its nodes."""
    if not found:
        say("No transfer over several nodes runs.")
    for one in found:
        total, done = one.total_bytes, one.total_bytes - one.left_bytes
        lasts_s = (one.ended_s or one.now_s) - one.began_s
        say(
            f"{one.source}->{one.destination}, of {one.account}, {one.state}: {format_bytes(done)} "
            f"of {format_bytes(total)} in {format_duration(max(0.0, lasts_s))}"
        )
        print_table(_COLUMNS, [_cells(node) for node in one.nodes])
        say()


def _cells(one: "NodeStanding") -> list[str]:
    moves = one.state == "moving"
    return [
        str(one.number),
        one.source,
        one.destination,
        one.state,
        format_rate(one.rate_bps) if moves else "",
        format_bytes(one.moved_bytes),
        f"{one.clients} × {one.streams}" if moves else "",
        one.message,
    ]
