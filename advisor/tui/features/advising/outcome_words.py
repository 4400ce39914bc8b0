"""The words about the outcome of a session: gains, verdicts, intervals, settings in brief. Pure."""

from collections.abc import Mapping
from typing import Final

from advisor.domain.advice import Advice, Contender, Estimate
from advisor.domain.quantities import format_bytes
from advisor.domain.space import SettingValue
from advisor.models.comparison import ratio_of_means
from advisor.traits import describe, subject_name
from advisor.tui.kit.charts.bar_scale import BarScale
from advisor.tui.kit.sentences import times_words

_COUNTS: Final = ("concurrency", "parallelism", "streams", "threads")
_HALF: Final = (0.48, 0.52)
_FRACTION_BELOW: Final = 0.2
NO_DIFFERENCE: Final = "no clear difference"


def brief_setting(subject: str, setting: Mapping[str, SettingValue]) -> str:
    """`TCP 4×4MiB`: flows and the buffer of each; `TCP 16` with the kernel's own buffers."""
    parts = [str(setting[name]) for name in _COUNTS if name in setting]
    buffer_bytes = setting.get("buffer_bytes", 0)
    if buffer_bytes and not isinstance(buffer_bytes, str):
        parts.append(format_bytes(buffer_bytes).replace(" ", ""))
    return " ".join(filter(None, (subject_name(subject), "×".join(parts))))


def dotted_setting(subject: str, setting: Mapping[str, SettingValue]) -> str:
    """`TCP · 4 streams · 4 MiB buffers`."""
    return describe(subject, setting).replace(", ", " · ")


def interval_words(rate_bps: float, interval_bps: tuple[float, float]) -> str:
    """`(902–1050)`: the interval of a rate, in the unit that the rate is written in."""
    scale = BarScale(rate_bps, rate_bps, 1)
    return f"({'–'.join(map(scale.figure, interval_bps))})"


def gain_words(advice: Advice) -> str:
    """`32× untuned`; "" without a default to compare with."""
    if advice.gain is None:
        return ""
    over = "the tool's default" if advice.composition else "untuned"
    low, high = advice.gain.interval
    if low == high == 1:
        return "no gain: nothing measured beats the default"
    if low <= 1 <= high:
        return f"no clear gain over {over}"
    return f"{times_words(advice.gain.value)} {over}"


def cautions(advice: Advice) -> list[str]:
    """What to know before relying on it."""
    lines = []
    if advice.incomplete:
        lines.append("! The session was cut short: this is the best so far.")
    if advice.basis == "history":
        lines.append("! From history: nothing was measured.")
    return lines


def verdict_words(contender: Contender, advised: Contender | None) -> str:
    """How a setting compares with the advised one: `13 % less`, `half`, `1/32`; `–` for itself."""
    if advised is None or contender is advised:
        return "–"
    ratio = contender.ratio or ratio_of_means(contender.throughput, advised.throughput)
    return ratio_words(ratio)


def ratio_words(ratio: Estimate) -> str:
    """A rate relative to another one, in words."""
    lower, upper = ratio.interval
    value = ratio.value
    if lower <= 1 <= upper:
        return NO_DIFFERENCE
    if value > 1:
        return f"{_percent(value - 1)} more"
    if _HALF[0] < value < _HALF[1]:
        return "half"
    return f"{_percent(1 - value)} less" if value > _FRACTION_BELOW else f"1/{1 / value:.0f}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.005 else "under 1 %"
