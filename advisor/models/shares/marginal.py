"""What one more concurrent file or stream gains for one destination and costs the others."""

from collections.abc import Mapping

import msgspec

from advisor.models.shares.allocation import Predicts


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """The rate of one destination before and after the change, in bit/s."""

    destination: str
    before_bps: float
    after_bps: float

    @property
    def gain_bps(self) -> float:
        """Negative if it loses."""
        return self.after_bps - self.before_bps


def changes(
    models: Mapping[str, Predicts], levels: Mapping[str, int], more: str, by: float = 1.0
) -> list[Change]:
    """The rates of all destinations if `more` gets `by` additional concurrency.

    One more stream for each of its files is `by` = concurrency / parallelism: as far as the flows
    share the path, that equals as many more concurrent files. Files also have a set-up cost of
    their own, which streams do not; where that limits, a stream gains less than stated here.
    """
    total = sum(levels.values())
    return [
        Change(
            destination=name,
            before_bps=models[name](level, total),
            after_bps=models[name](level + (by if name == more else 0.0), total + by),
        )
        for name, level in levels.items()
    ]
