"""The round-trip time of a path, sampled every second."""

import statistics
from collections.abc import Sequence
from typing import Final

from textual.content import Content

from advisor.domain.quantities import format_duration
from advisor.tui.kit.charts.spark import spark
from advisor.tui.kit.static import Static

_LEAST_WIDTH: Final = 10
_WORDS_WIDTH: Final = 62


class WatchedPath(Static, can_focus=False):
    """Present, minimum and median round-trip time, and a sparkline."""

    HELP = (
        "[b]Round trip[/b]\nThe round-trip time of a small packet on the idle path. The longer "
        "it is, the more data must be in flight. If it varies much, others use the path too: "
        "measure when it is quiet, or more than once."
    )
    DEFAULT_CSS = "WatchedPath { height: auto; }"

    def show(self, rtts_s: Sequence[float]) -> None:
        """Draw these, the newest last."""
        if not rtts_s:
            self.update("")
            return
        now, least, median = rtts_s[-1], min(rtts_s), statistics.median(rtts_s)
        others = f" · least {format_duration(least)} · median {format_duration(median)} "
        width = max(_LEAST_WIDTH, min(60, self.size.width - _WORDS_WIDTH))
        self.update(
            Content.assemble(
                "Round trip ",
                (format_duration(now), "bold"),
                (others, "$default"),
                (spark(rtts_s, width), "$blue"),
            )
        )
