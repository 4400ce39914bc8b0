"""How clients are run, and how long each runs for a batch."""

from typing import Final

import msgspec

from advisor.transfer.engine.epochs import DECIDING_S

_PIECE_S: Final = 5.0
_PIECES_IN_EPOCH: Final = 4
"""At least: a change takes effect about one batch later, well before half of the epoch."""

_LEAST_PIECES_IN_EPOCH: Final = 2
"""At least, where clients take long to set up: at most half of an epoch is not counted."""

_SET_UPS_IN_PIECE: Final = 4
"""Duration of a batch in set-up times, where allowed. A client that is connecting and in slow start
displaces those that already transfer: with batches half as long as this a quarter of the rate was
lost."""


class ClientOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How clients are run.

    `expected_bps`: assumed throughput of one client until it is measured, above 0; it sets the size
    of the first batches. `piece_s`: intended duration of a batch; up to `longest_piece_s` where
    clients take long to set up. `rate_limit_bps`: bound on all clients together, None for none.
    `niceness`: of the client processes, 0 to 19. `ends_surplus`: once a setting changes, clients
    that it has no place for are ended at once, and their batches are moved again.
    """

    expected_bps: float
    longest_piece_s: float
    piece_s: float = _PIECE_S
    rate_limit_bps: float | None = None
    niceness: int = 0
    ends_surplus: bool = False

    def piece_s_beside(self, set_up_s: float) -> float:
        """The intended duration of a batch in seconds; `set_up_s`: that of setting up a client."""
        return max(self.piece_s, min(_SET_UPS_IN_PIECE * set_up_s, self.longest_piece_s))


def lasting_epochs(
    epoch_s: float,
    expected_bps: float,
    rate_limit_bps: float | None = None,
    *,
    ends_surplus: bool = False,
) -> ClientOptions:
    """The options where one client's rate depends on the others', and each rate is to be stable.

    Every client that begins again in slow start displaces others. So a batch lasts half of an epoch
    of `epoch_s` seconds, after which a change has taken effect; or the whole, where clients can be
    ended before (`ends_surplus`). The others: as in `ClientOptions`.
    """
    piece_s = epoch_s if ends_surplus else epoch_s / _LEAST_PIECES_IN_EPOCH
    return ClientOptions(
        expected_bps=expected_bps,
        piece_s=piece_s,
        longest_piece_s=piece_s,
        rate_limit_bps=rate_limit_bps,
        ends_surplus=ends_surplus,
    )


def beside_epochs(
    epoch_s: float | None,
    expected_bps: float,
    rate_limit_bps: float | None = None,
    niceness: int = 0,
) -> ClientOptions:
    """The options where a setting is kept for an epoch of this many seconds.

    None: for epochs that end once they are decided. The others: as in `ClientOptions`.
    """
    pieces = _LEAST_PIECES_IN_EPOCH if epoch_s is None else _PIECES_IN_EPOCH
    epoch_s = epoch_s or DECIDING_S
    return ClientOptions(
        expected_bps=expected_bps,
        piece_s=min(_PIECE_S, epoch_s / pieces),
        longest_piece_s=epoch_s / _LEAST_PIECES_IN_EPOCH,
        rate_limit_bps=rate_limit_bps,
        niceness=niceness,
    )
