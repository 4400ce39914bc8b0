"""Which of a pair's stored settings is the best, and how far to trust it."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from advisor.domain.events import PastResult
from advisor.domain.file_io import DISKS
from advisor.domain.measurement import Measurement
from advisor.domain.quantities import format_duration
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting, SettingKey, setting_key

# A month: kernels are updated, routes and reservations change on that scale, and a result that is
# older than the last maintenance says nothing of the path as it stands.
STALE_S: Final = 30 * 24 * 3600.0
# Below three, a spread cannot be told from luck.
THIN_PROBES: Final = 3
# Repeats of one setting differ by 8 to 23 % (coefficient of variation) on public records of
# wide-area transfers. This middle value stands in until the pair's own repeats outweigh it; it
# weighs as much as two of them.
ASSUMED_SPREAD: Final = 0.15
_ASSUMED_WEIGHT: Final = 2.0

# A path whose RTT is another by more than both of these is another path: routed anew, or a testbed
# that was made again with other options under the same name. What it carried says nothing of this.
OTHER_RTT_SHARE: Final = 0.2
OTHER_RTT_S: Final = 0.002


def of_this_path(probes: Iterable[ProbeRecord], rtt_s: float | None) -> list[ProbeRecord]:
    """Those that were measured on a path of about this RTT; all, where it is not known.

    Probes whose RTT was not recorded are among them.
    """
    if rtt_s is None:
        return list(probes)
    margin_s = max(OTHER_RTT_SHARE * rtt_s, OTHER_RTT_S)
    return [p for p in probes if p.rtt_s is None or abs(p.rtt_s - rtt_s) <= margin_s]


class SettingRates:
    """The throughputs of one setting's successful probes, in bit/s, and when the newest ended."""

    def __init__(self, setting: Setting, rates_bps: list[float], newest_s: float) -> None:
        self.setting = setting
        self.rates_bps = rates_bps
        self.newest_s = newest_s

    def add(self, rate_bps: float, recorded_s: float) -> None:
        """Take in one probe."""
        self.rates_bps.append(rate_bps)
        self.newest_s = max(self.newest_s, recorded_s)


class _Group:
    """The figures of one setting."""

    def __init__(self, probes: SettingRates) -> None:
        rates = probes.rates_bps
        self.setting = probes.setting
        self.newest_s = probes.newest_s
        self.count = len(rates)
        self.mean = math.fsum(rates) / len(rates)
        self.squares = math.fsum((r / self.mean - 1) ** 2 for r in rates)

    @property
    def spread(self) -> float | None:
        return math.sqrt(self.squares / (self.count - 1)) if self.count > 1 else None


def best_results(probes: Iterable[ProbeRecord], now_s: float) -> list[PastResult]:
    """The best setting of each transport and tool, by its name. `now_s` is Unix time."""
    by_subject: dict[str, dict[SettingKey, SettingRates]] = defaultdict(dict)
    for probe in probes:
        if probe.subject in DISKS:
            continue
        if isinstance(probe.result, Measurement) and probe.result.throughput_bps > 0:
            rates = by_subject[probe.subject].setdefault(
                setting_key(probe.setting), SettingRates(probe.setting, [], -math.inf)
            )
            rates.add(probe.result.throughput_bps, probe.recorded_s)
    return best_of({subject: list(rates.values()) for subject, rates in by_subject.items()}, now_s)


def best_of(by_subject: Mapping[str, list[SettingRates]], now_s: float) -> list[PastResult]:
    """The best setting of each subject, by name of the subject. `now_s` is Unix time.

    Settings are ranked by their mean taken down by one standard error, so that one lucky probe does
    not win over a setting that many probes support. The standard error is the spread of single
    probes, as a share of the mean, pooled over all settings of the subject that were repeated, over
    the root of the number of probes. Of equals the first wins.
    """
    return [
        _past_result(subject, _winner([_Group(rates) for rates in settings]), now_s)
        for subject, settings in sorted(by_subject.items())
    ]


def _winner(groups: list[_Group]) -> _Group:
    freedom = sum(g.count - 1 for g in groups)
    squares = math.fsum(g.squares for g in groups)
    spread = math.sqrt(
        (_ASSUMED_WEIGHT * ASSUMED_SPREAD**2 + squares) / (_ASSUMED_WEIGHT + freedom)
    )
    # On the logarithm of the rate, where a spread that is a share of the mean is the same for all
    # and nothing falls below zero.
    return max(groups, key=lambda g: g.mean * math.exp(-spread / math.sqrt(g.count)))


def _past_result(subject: str, best: _Group, now_s: float) -> PastResult:
    age_s = max(0.0, now_s - best.newest_s)
    return PastResult(
        transport=subject,
        setting=best.setting,
        throughput_bps=best.mean,
        spread=best.spread,
        probes=best.count,
        age_s=age_s,
        caution=_caution(best.count, age_s),
    )


def _caution(probes: int, age_s: float) -> str:
    sentences = []
    if age_s > STALE_S:
        sentences.append(
            f"Last measured {format_duration(age_s)} ago: path or hosts may have changed since."
        )
    if probes < THIN_PROBES:
        stands = "one probe" if probes == 1 else f"{probes} probes"
        sentences.append(f"Stands on {stands} only: that can be luck.")
    return " ".join(sentences)
