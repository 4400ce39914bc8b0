"""The rate of a control epoch, and what an epoch is to show."""

import msgspec


class EpochRate(msgspec.Struct, frozen=True, kw_only=True):
    """The rate of a setting with its standard error, both in bit/s.

    `first`: how many of the epoch's first intervals were left out.
    """

    bps: float
    stderr_bps: float
    first: int = 0


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """What an epoch is to show. `reference`: the rate it is compared with, above 0.

    None for the first epoch, which is only to be known as well as a probe.
    """

    reference: EpochRate | None = None
