"""What is known of the pair under the cursor: its advice, what that stands on, and its limits."""

import time
from collections.abc import Iterator
from typing import Final

from textual.content import Content

from advisor.domain.quantities import format_rate, format_rates
from advisor.store.summaries import PairSummary
from advisor.traits import describe
from advisor.tui.features.home.pair_table import best_of
from advisor.tui.kit.charts.spark import spark
from advisor.tui.kit.panels.titled import PANEL_CSS, Titled
from advisor.tui.kit.sentences import count_words
from advisor.tui.kit.static import Static
from advisor.tui.kit.times import age_words

_LIMITS: Final = 2
_PAST: Final = 24


class PairCard(Titled, Static):
    """`show` a pair; a text instead where there is none."""

    DEFAULT_CSS = f"PairCard {{ {PANEL_CSS} height: auto; min-height: 6; }}"

    def __init__(self) -> None:
        super().__init__(id="pair")

    def show(self, pair: PairSummary) -> None:
        """The pair's advice, else its best result."""
        self.set_title(
            pair.pair.destination, f"{age_words(time.time() - pair.last_recorded_s)} ago"
        )
        self.update(Content("\n").join(_lines(pair)))

    def tell(self, title: str, text: str) -> None:
        """A text that is about no pair."""
        self.set_title(title)
        self.update(Content(text))


def _lines(pair: PairSummary) -> Iterator[Content]:
    best = best_of(pair)
    record = pair.last_advice
    if record:
        advice = record.advice
        gain = f"  {advice.gain.value:.2g}× untuned" if advice.gain else ""
        low, high = advice.interval_bps
        yield Content(describe(advice.subject, advice.setting))
        yield Content.assemble(
            (format_rate(advice.expected_bps), "bold $advised"),
            (f" ({format_rates(low, high)})", "dim"),
            gain,
        )
    elif best:
        yield Content.assemble("Best  ", describe(best.subject, best.setting))
        yield Content.assemble(
            (format_rate(best.throughput_bps), "bold"), ("  no advice yet", "dim")
        )
    else:
        yield Content.styled("No successful probe is stored.", "dim")
    series = pair.series.get(best.subject, []) if best else []
    if series:
        drawn = spark([rate for _, rate in series], _PAST)
        yield Content.assemble((drawn, "$blue"), (f"  {count_words(len(series), 'probe')}", "dim"))
    limits = record.advice.limits[:_LIMITS] if record else []
    for limit in limits:
        yield Content.styled(f"✗ {limit.what}", "$act")
