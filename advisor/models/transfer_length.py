"""The duration of a probe of a transfer tool.

A file transfer needs round trips before the first byte flows (login, options, connections) and
after the last; in between TCP starts slowly. The data must flow long enough to show a steady rate,
and a setting that is much slower than expected must not use up all the time.
"""

from typing import Final

import msgspec

_LEAST_START: Final = 16.0
"""Round trips of a login, for tools of which nothing else is known."""

WHOLE_TIMES: Final = 2.0
"""Where the whole dataset is expected to take at most this multiple of a slice's time limit, a
probe moves all of it: that measures what slices only predict."""

_MARGIN: Final = 1.25
"""The whole dataset is moved if this multiple of its expected time is left."""

_LATE: Final = 2.0
"""The time limit of a probe that moves the whole dataset, as a multiple of what is expected."""


class TransferLength(msgspec.Struct, frozen=True, kw_only=True):
    """`data_s`: how long data should flow at the best known rate. `ceiling_s`: time limit.

    `usual_s`: the usual duration. `sample_every_s`: the interval between progress samples.
    """

    data_s: float
    ceiling_s: float
    usual_s: float
    sample_every_s: float


def transfer_length(rtt_s: float, start: float = 0.0) -> TransferLength:
    """As a function of the round-trip time, in seconds and above 0.

    `start`: the round trips before the first file, if that is known of the tool. For the data, 30
    round trips are twice the maximum for slow start (see `steadiness.probe_length`).
    """
    data_s = max(2.0, 30 * rtt_s)
    login_s = 0.3 + max(_LEAST_START, start) * rtt_s
    return TransferLength(
        data_s=data_s,
        ceiling_s=login_s + 2.5 * data_s,
        usual_s=login_s + 1.3 * data_s,
        sample_every_s=0.1 if rtt_s < 0.1 else 0.2,
    )


def whole_limit_s(whole_s: float, limit_s: float, left_s: float) -> float | None:
    """The time limit of a probe that moves the whole dataset; None where a slice is better. In
    seconds.

    `whole_s`: what is expected of the whole. `limit_s`: the time limit of a slice. `left_s`: what
    the session has left.
    """
    if whole_s > min(WHOLE_TIMES * limit_s, left_s / _MARGIN):
        return None
    return max(limit_s, min(_LATE * whole_s, left_s))
