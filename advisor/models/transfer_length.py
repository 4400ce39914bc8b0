"""How long a probe of a transfer tool lasts.

A transfer of files costs round trips before the first byte flows (login, options, connections) and
after the last; in between TCP starts slowly. The data has to flow long enough for what is steady to
show, and a setting that is much slower than expected must not take all the time there is.
"""

import msgspec

_LOGIN_ROUND_TRIPS = 16


class TransferLength(msgspec.Struct, frozen=True, kw_only=True):
    """`data_s`: how long data is to flow at the best rate known. `ceiling_s`: when a probe is cut.

    `usual_s`: what one takes as a rule. `sample_every_s`: how often its progress is looked at.
    """

    data_s: float
    ceiling_s: float
    usual_s: float
    sample_every_s: float


def transfer_length(rtt_s: float) -> TransferLength:
    """By the round-trip time, in seconds and above 0.

    30 round trips are twice what slow start needs at most (see `steadiness.probe_length`).
    """
    data_s = max(2.0, 30 * rtt_s)
    login_s = 0.3 + _LOGIN_ROUND_TRIPS * rtt_s
    return TransferLength(
        data_s=data_s,
        ceiling_s=login_s + 2.5 * data_s,
        usual_s=login_s + 1.3 * data_s,
        sample_every_s=0.1 if rtt_s < 0.1 else 0.2,
    )
