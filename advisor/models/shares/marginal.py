"""What one more file at a time, or one more stream, brings one destination and costs the others."""

from collections.abc import Mapping

import msgspec

from advisor.models.shares.allocation import Predicts


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """Of one destination, in bit/s: what it gets as it is, and after the change."""

    destination: str
    before_bps: float
    after_bps: float

    @property
    def gain_bps(self) -> float:
        """Below 0 where it loses."""
        return self.after_bps - self.before_bps


def changes(
    models: Mapping[str, Predicts], levels: Mapping[str, int], more: str, by: float = 1.0
) -> list[Change]:
    """Of all destinations with a level, where one of them has so much `more` concurrency.

    One more stream for each of its files is `by` concurrency / parallelism: as far as the flows
    share the path, that many more files at a time. Files beside that have set-ups of their own,
    which streams have not; where those limit, a stream brings less than is said here.
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
