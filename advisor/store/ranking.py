"""Which of a pair's stored settings is the best, and how reliable it is."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from advisor.domain.events import PastResult
from advisor.domain.file_io import PARTS
from advisor.domain.measurement import Measurement
from advisor.domain.quantities import format_duration, format_rate
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting, SettingKey, setting_key

# A month: kernels are updated, routes and reservations change on that scale, and a result older
# than the last maintenance does not describe the present path.
STALE_S: Final = 30 * 24 * 3600.0
# With fewer than three, a spread cannot be distinguished from chance.
THIN_PROBES: Final = 3
# Repeats of one setting differ by 8 to 23 % (coefficient of variation) on public records of
# wide-area transfers. This middle value is used until the pair's own repeats outweigh it; it has
# the weight of two of them.
ASSUMED_SPREAD: Final = 0.15
_ASSUMED_WEIGHT: Final = 2.0


class SettingRates:
    """The throughputs of one setting's successful probes, in bit/s, and the newest end time."""

    def __init__(self, setting: Setting, rates_bps: list[float], newest_s: float) -> None:
        self.setting = setting
        self.rates_bps = rates_bps
        self.newest_s = newest_s

    def add(self, rate_bps: float, recorded_s: float) -> None:
        """Add one probe."""
        self.rates_bps.append(rate_bps)
        self.newest_s = max(self.newest_s, recorded_s)


class _Group:
    """The statistics of one setting."""

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


def newest_measurement(
    probes: Iterable[ProbeRecord], subject: str, setting: Setting
) -> Measurement | None:
    """The result of the last probe of a setting that succeeded; None if none did."""
    key = setting_key(setting)
    found = [
        p.result
        for p in probes
        if p.subject == subject
        and setting_key(p.setting) == key
        and isinstance(p.result, Measurement)
    ]
    return found[-1] if found else None


def best_results(probes: Iterable[ProbeRecord], now_s: float) -> list[PastResult]:
    """The best setting of each subject, by name. `now_s` is Unix time."""
    by_subject: dict[str, dict[SettingKey, SettingRates]] = defaultdict(dict)
    for probe in probes:
        if probe.subject in PARTS:
            continue
        if isinstance(probe.result, Measurement) and probe.result.throughput_bps > 0:
            rates = by_subject[probe.subject].setdefault(
                setting_key(probe.setting), SettingRates(probe.setting, [], -math.inf)
            )
            rates.add(probe.result.throughput_bps, probe.recorded_s)
    return best_of({subject: list(rates.values()) for subject, rates in by_subject.items()}, now_s)


def best_of(by_subject: Mapping[str, list[SettingRates]], now_s: float) -> list[PastResult]:
    """The best setting of each subject, by the subject's name. `now_s` is Unix time.

    Settings are ranked by their mean minus one standard error, so that a single lucky probe does
    not win over a setting that many probes support. The standard error is the relative spread of
    single probes, pooled over all repeated settings of the subject, divided by the square root of
    the number of probes. Of equals the first wins.
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
    # On the logarithm of the rate, where a relative spread is the same for all settings and nothing
    # falls below zero.
    return max(groups, key=lambda g: g.mean * math.exp(-spread / math.sqrt(g.count)))


def _past_result(subject: str, best: _Group, now_s: float) -> PastResult:
    age_s = max(0.0, now_s - best.newest_s)
    return PastResult(
        subject=subject,
        setting=best.setting,
        throughput_bps=best.mean,
        spread=best.spread,
        probes=best.count,
        age_s=age_s,
        caution=_caution(best.count, age_s),
    )


def with_caution(past: PastResult, caution: str) -> PastResult:
    """It with one more reason not to rely on it, in front of the others."""
    return msgspec.structs.replace(past, caution=f"{caution} {past.caution}".strip())


def capped(past: PastResult, most_bps: float) -> PastResult:
    """It at the rate that is available now, with the caution that it was measured at more."""
    caution = (
        f"Measured at {format_rate(past.throughput_bps)}: no more is promised than the "
        f"{format_rate(most_bps)} that is reserved now."
    )
    return msgspec.structs.replace(with_caution(past, caution), throughput_bps=most_bps)


def _caution(probes: int, age_s: float) -> str:
    sentences = []
    if age_s > STALE_S:
        sentences.append(
            f"Last measured {format_duration(age_s)} ago: path or hosts may have changed since."
        )
    if probes < THIN_PROBES:
        stands = "one probe" if probes == 1 else f"{probes} probes"
        sentences.append(f"Based on only {stands}: that may be chance.")
    return " ".join(sentences)
