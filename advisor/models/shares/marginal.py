"""What one more concurrent file or stream gains for one destination and costs the others."""

from collections.abc import Mapping

import msgspec

from advisor.domain.shares import Streams
from advisor.models.shares.allocation import Predicts
from advisor.models.shares.forecast import Forecast


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """The rate of one destination before and after the change, in bit/s."""

    destination: str
    before_bps: float
    after_bps: float

    @property
    def gain_bps(self) -> float:
        """Negative if it loses."""
        return self.after_bps - self.before_bps


def changes(models: Mapping[str, Predicts], levels: Mapping[str, int], more: str) -> list[Change]:
    """The rates of all destinations if `more` gets one more concurrent file."""
    total = sum(levels.values())
    return [
        Change(
            destination=name,
            before_bps=models[name](level, total),
            after_bps=models[name](level + (1 if name == more else 0), total + 1),
        )
        for name, level in levels.items()
    ]


def stream_changes(
    forecasts: Mapping[str, Forecast], levels: Mapping[str, int], more: str, parallelism: int
) -> list[Change]:
    """The rates of all destinations if each file of `more` gets one more stream.

    From the exponents of the streams, which are not those of files (section III, figures 5 and 6).
    `parallelism`: the present streams of each file. Empty where a model does not have them because
    the streams were not varied when it was trained.
    """
    if any(forecasts[name].model.streams is None for name in levels):
        return []
    total = sum(levels.values())
    mean = parallelism + levels[more] / total
    return [
        Change(
            destination=name,
            before_bps=forecasts[name].with_streams(
                level, total, Streams(parallelism, parallelism)
            ),
            after_bps=forecasts[name].with_streams(
                level, total, Streams(parallelism + (1 if name == more else 0), mean)
            ),
        )
        for name, level in levels.items()
    ]
