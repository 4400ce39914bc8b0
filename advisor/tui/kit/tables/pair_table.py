"""The known pairs, one per row."""

import time
from collections.abc import Sequence
from typing import Final

from rich.text import Text

from advisor.domain.events import PastResult
from advisor.domain.file_io import DISKS
from advisor.domain.quantities import format_rate
from advisor.domain.space import setting_words
from advisor.store.summaries import PairSummary
from advisor.traits import subject_name
from advisor.tui.kit.charts.spark import spark
from advisor.tui.kit.sentences import shortened
from advisor.tui.kit.tables.row_table import RowTable
from advisor.tui.kit.times import age_words

_PAST: Final = 16
_WIDE: Final = 110
_PAIR: Final = 26


class PairTable(RowTable):
    """Best throughput, advised setting, age, and a sparkline of past probes."""

    HELP = (
        "[b]Known pairs[/b]\nPairs measured before. Best: the best stored throughput, and its "
        "transport. Past: the probes of that transport from zero up, the newest at the right. "
        "Enter starts new advice for that destination."
    )

    def __init__(self) -> None:
        super().__init__("Known pairs", "to", "best", "by", "advised", "age", "past", id="pairs")

    def show(self, pairs: Sequence[PairSummary], drawing: str, width: int) -> None:
        """Fill it with these; `width` decides how many columns are shown."""
        self.fill([(str(s.pair), _cells(s, drawing, width, time.time())) for s in pairs])


def best_of(pair: PairSummary) -> PastResult | None:
    """The best stored result of any transport or tool; disks alone do not count."""
    moved = (result for result in pair.best if result.subject not in DISKS)
    return max(moved, key=lambda result: result.throughput_bps, default=None)


def _cells(pair: PairSummary, drawing: str, width: int, now_s: float) -> tuple[Text, ...]:
    best = best_of(pair)
    series = pair.series.get(best.subject, []) if best else []
    advised = ""
    if pair.last_advice:
        advice = pair.last_advice.advice
        advised = subject_name(advice.subject)
        if width >= _WIDE:
            advised += f", {setting_words(advice.setting)}"
    name = str(pair.pair.destination) if width < _WIDE else str(pair.pair)
    return (
        Text(shortened(name, _PAIR if width < _WIDE else 2 * _PAIR)),
        Text(format_rate(best.throughput_bps) if best else "–", justify="right"),
        Text(subject_name(best.subject) if best else ""),
        Text(advised or "–"),
        Text(age_words(now_s - pair.last_recorded_s), justify="right"),
        Text(spark([rate for _, rate in series], _PAST, drawing)),
    )
