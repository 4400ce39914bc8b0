"""Where a tuned transfer starts where nothing says: by its history, or by the path.

From Globus's default the way up may be long, and every epoch on it costs a part of the transfer.
"""

import math
from collections.abc import Sequence
from statistics import fmean
from typing import Final

from advisor.domain.path import PathFacts
from advisor.domain.records import ProbeRecord
from advisor.domain.space import stored_count
from advisor.domain.transfers import Levels
from advisor.methods.searching import usable_bps
from advisor.models.transfer_heuristics import buffer_of
from advisor.models.transfer_parameters import GLOBUS_LARGE_FILES
from advisor.store.ranking import STALE_S

EPOCH_STAGE: Final = "transfer"
"""The stage of the records that are control epochs."""

_FEWEST_EPOCHS: Final = 2
_AS_GOOD: Final = 0.95
_LEVELS: Final = ("concurrency", "parallelism")


def past_levels(probes: Sequence[ProbeRecord], tool: str, now_s: float) -> Levels | None:
    """The setting that did best in the last tuned transfer of this pair; None without one.

    Of those within 5 % of the best mean, the one with the fewest flows; a setting counts if it had
    two epochs. `probes`: all of the pair. `now_s`: Unix time; older than `STALE_S` does not count.
    """
    epochs = [
        one
        for one in probes
        if one.stage == EPOCH_STAGE
        and one.subject == tool
        and now_s - one.recorded_s <= STALE_S
        and all(stored_count(one.setting, name) for name in _LEVELS)
    ]
    if not epochs:
        return None
    newest = max(epochs, key=lambda one: one.recorded_s).session
    rates: dict[tuple[int, int], list[float]] = {}
    for one in epochs:
        if one.session == newest:
            files, streams = (int(one.setting[name]) for name in _LEVELS)
            rates.setdefault((files, streams), []).append(usable_bps(one.result))
    means = {key: fmean(some) for key, some in rates.items() if len(some) >= _FEWEST_EPOCHS}
    if not means or not (best_bps := max(means.values())):
        return None
    good = [key for key, bps in means.items() if bps >= _AS_GOOD * best_bps]
    files, streams = min(good, key=lambda key: (key[0] * key[1], -means[key]))
    return Levels(concurrency=files, parallelism=streams)


def path_levels(path: PathFacts) -> Levels | None:
    """As many flows as fill the path with the kernel's largest windows, if Globus's do not.

    The files at the same time are raised, at Globus's streams for each. None where Globus's default
    is enough, or link and kernel are not known.
    """
    buffer_bytes, rate_bps = buffer_of(path), path.capacity_bps
    if not buffer_bytes or not rate_bps:
        return None
    usual = GLOBUS_LARGE_FILES
    flows = math.ceil(rate_bps * path.rtt_s / 8 / buffer_bytes)
    if flows <= usual.concurrency * usual.parallelism:
        return None
    files = math.ceil(flows / usual.parallelism)
    return Levels(concurrency=files, parallelism=usual.parallelism)
