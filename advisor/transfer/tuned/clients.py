"""How long the clients of a tuned transfer run, beside its control epochs."""

from typing import Final

from advisor.domain.space import Setting, concurrency_of
from advisor.transfer.engine.epochs import DECIDING_S
from advisor.transfer.engine.mover import ClientOptions
from advisor.transfer.engine.route import Route

_PIECE_S: Final = 5.0
_PIECES_IN_EPOCH: Final = 4
"""At least: a change takes effect about one batch later, well before half of the epoch."""

_LEAST_PIECES_IN_EPOCH: Final = 2
"""At least, where clients take long to set up: at most half of an epoch is not counted."""


def client_options(
    route: Route,
    setting: Setting,
    epoch_s: float | None,
    rate_limit_bps: float | None,
    niceness: int,
) -> ClientOptions:
    """The options for a transfer that starts at this setting. The others: see `TransferOptions`."""
    pieces = _LEAST_PIECES_IN_EPOCH if epoch_s is None else _PIECES_IN_EPOCH
    epoch_s = epoch_s or DECIDING_S
    return ClientOptions(
        expected_bps=route.capacity_bps / concurrency_of(setting),
        piece_s=min(_PIECE_S, epoch_s / pieces),
        longest_piece_s=epoch_s / _LEAST_PIECES_IN_EPOCH,
        rate_limit_bps=rate_limit_bps,
        niceness=niceness,
    )
