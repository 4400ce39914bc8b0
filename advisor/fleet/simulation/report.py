"""The figures of a simulated fleet."""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray


class Notices(msgspec.Struct, frozen=True, kw_only=True):
    """Changes of one kind. Times in seconds from the change until it was called.

    `happened`: those that lasted or were mended before the end; `noticed`: of these, before the
    next change of the same host or pair.
    """

    happened: int
    noticed: int
    median_s: float | None
    p90_s: float | None


class Traffic(msgspec.Struct, frozen=True, kw_only=True):
    """Of each host and day, sent and received together, as a part of its bound."""

    median_bytes: float
    median_share: float
    most_bytes: float
    most_share: float


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """One or more simulated days are over. `covered`: pairs that were measured once or more."""

    days: int
    of_days: int
    measurements: int
    covered: int
    pairs: int


class SimulationReport(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a fleet. Times in seconds; shares and Jain's index in [0, 1].

    `cover_s`: until this part of the pairs had been measured once, None if that was not reached.
    `idle_share`: of the workers, until all pairs were covered and afterwards. `jain_pairs`: of the
    measurements of the pairs; `jain_hosts`: of those of each host, for each of its pairs.
    `false_alarms_per_pair_year`: changes that were called where there was none.
    """

    hosts: int
    pairs: int
    workers: int
    seed: int
    simulated_s: float
    complete: bool
    measurements: int
    failures: int
    cover_s: dict[str, float | None]
    idle_share: float
    idle_share_after_cover: float | None
    jain_pairs: float
    jain_hosts: float
    median_age_s: float | None
    oldest_age_s: float | None
    traffic: Traffic | None
    changes: dict[str, Notices]
    false_alarms: int
    false_alarms_per_pair_year: float


def jain(shares: NDArray[np.float64]) -> float:
    """Jain's index of fairness: 1 if all have the same, 1/n if one has all."""
    squares = float((shares * shares).sum()) * len(shares)
    return float(shares.sum()) ** 2 / squares if squares else 1.0


def traffic_of(daily_bytes: NDArray[np.float64], bounds: NDArray[np.float64]) -> Traffic | None:
    """`daily_bytes`: a row for each whole day, a column for each host; None without a whole day."""
    if not daily_bytes.size:
        return None
    shares = daily_bytes / bounds
    most = np.unravel_index(int(shares.argmax()), shares.shape)
    return Traffic(
        median_bytes=float(np.median(daily_bytes)),
        median_share=float(np.median(shares)),
        most_bytes=float(daily_bytes[most]),
        most_share=float(shares[most]),
    )


def notices_of(happened: int, delays_s: Sequence[float]) -> Notices:
    """The delays of those that were noticed."""
    median, p90 = (
        (float(np.quantile(delays_s, part)) if delays_s else None) for part in (0.5, 0.9)
    )
    return Notices(happened=happened, noticed=len(delays_s), median_s=median, p90_s=p90)
