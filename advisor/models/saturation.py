"""What the path has shown of its capacity: the rate at which more flows gain nothing.

The speed of an interface is an upper bound of a path's capacity, and often far above it. A single
throughput is a lower bound, and often far below. But where several settings with very different
numbers of flows reach about the same highest rate, the settings are not what limits it.
"""

from collections.abc import Collection, Iterable
from typing import Final

from advisor.domain.space import Setting, SettingKey, flows_of, setting_key

_SAME_SHARE: Final = 0.95
_LEAST_SETTINGS: Final = 3
"""Two may lie on both sides of a peak."""

_LEAST_SPAN: Final = 4
"""The most flows over the fewest."""


def saturated_bps(
    measured: Iterable[tuple[Setting, float]], flow_names: Collection[str]
) -> float | None:
    """The rate at which flows stop to matter, in bit/s; None where they were not seen to.

    `measured`: settings and their throughputs. It is the mean of the settings within 5 % of the
    highest mean, if there are three or more with numbers of flows that span a factor of four.
    """
    rates: dict[SettingKey, list[float]] = {}
    flows: dict[SettingKey, int] = {}
    for setting, bps in measured:
        key = setting_key(setting)
        rates.setdefault(key, []).append(bps)
        flows[key] = flows_of(setting, flow_names)
    means = {key: sum(each) / len(each) for key, each in rates.items()}
    top_bps = max(means.values(), default=0.0)
    same = [key for key, bps in means.items() if bps >= _SAME_SHARE * top_bps]
    counts = sorted({flows[key] for key in same})
    if len(counts) < _LEAST_SETTINGS or counts[-1] < _LEAST_SPAN * counts[0]:
        return None
    return sum(means[key] for key in same) / len(same)
