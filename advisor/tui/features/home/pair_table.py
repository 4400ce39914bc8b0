"""The known pairs, one per row."""

import socket
import time
from collections.abc import Sequence
from typing import Final

from rich.text import Text

from advisor.domain.events import PastResult
from advisor.domain.file_io import PARTS
from advisor.domain.space import setting_words
from advisor.store.summaries import PairSummary
from advisor.traits import subject_name
from advisor.tui.kit.charts.axis import rate_unit
from advisor.tui.kit.charts.spark import spark
from advisor.tui.kit.sentences import shortened
from advisor.tui.kit.tables.row_table import RowTable
from advisor.tui.kit.times import age_words

_PAST: Final = 16
_WIDE: Final = 110
_PAIR: Final = 30


class PairTable(RowTable):
    """Best throughput, gain, advised setting, age, and a sparkline of past probes."""

    HELP = (
        "[b]Known paths[/b]\nThe destinations measured before. Best: the best stored throughput. "
        "Gain: that of the newest advice over the untuned default. Probes: their throughputs from "
        "zero up, the newest at the right. Enter starts new advice for that destination."
    )
    DEFAULT_CSS = """
    PairTable { height: 1fr; max-height: 100%; min-height: 5; }
    """

    def __init__(self) -> None:
        super().__init__("Known paths", id="pairs")

    def show(self, pairs: Sequence[PairSummary], width: int) -> None:
        """Fill it with these; `width` decides how much of each is shown."""
        bests = [best_of(pair) for pair in pairs]
        scale, unit = rate_unit(max((b.throughput_bps for b in bests if b), default=1.0))
        now_s = time.time()
        shown = width >= _WIDE
        rows = [
            (str(pair.pair), _cells(pair, best, scale, now_s, wide=shown))
            for pair, best in zip(pairs, bests, strict=True)
        ]
        columns = ("Destination", unit, "Gain", "Setting", "Age", "Probes")
        self.set_title("Known paths", str(len(pairs)))
        self.fill(rows, columns)


def best_of(pair: PairSummary) -> PastResult | None:
    """The best stored result of any transport or tool; disks alone do not count."""
    moved = (result for result in pair.best if result.subject not in PARTS)
    return max(moved, key=lambda result: result.throughput_bps, default=None)


def _cells(
    pair: PairSummary,
    best: PastResult | None,
    scale: float,
    now_s: float,
    *,
    wide: bool,
) -> tuple[Text, ...]:
    series = pair.series.get(best.subject, []) if best else []
    return (
        Text(shortened(_name(pair), _PAIR)),
        Text(f"{best.throughput_bps / scale:.3g}" if best else "–", justify="right"),
        Text(_gain(pair), justify="right"),
        Text(_setting(pair, best, wide=wide)),
        Text(age_words(now_s - pair.last_recorded_s), justify="right"),
        Text(spark([rate for _, rate in series], _PAST if wide else _PAST // 2)),
    )


def _name(pair: PairSummary) -> str:
    """The destination, and the source where that is another host than this one."""
    ends = pair.pair
    if ends.source == socket.gethostname():
        return ends.destination
    return f"{ends.source} → {ends.destination}"


def _gain(pair: PairSummary) -> str:
    gain = pair.last_advice.advice.gain if pair.last_advice else None
    return f"{gain.value:.2g}×" if gain else ""


def _setting(pair: PairSummary, best: PastResult | None, *, wide: bool) -> str:
    """The advised setting, else that of the best result."""
    known = pair.last_advice.advice if pair.last_advice else best
    if known is None:
        return "–"
    words = subject_name(known.subject)
    return f"{words}, {setting_words(known.setting)}" if wide else words
