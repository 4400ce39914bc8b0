"""Regret over time, as a figure."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from advisor.backtest.running import Finished
from advisor.report.plotting import COLOURS, GRID_COLOUR, styled, write_figure

_LINES: Final = ("-", "--", ":")


def write_plot(path: Path, ranking: Sequence[Finished]) -> None:
    """Draw a line per method. Raises CannotPlot."""
    with styled():
        write_figure(path, _drawn(ranking))


def _drawn(ranking: Sequence[Finished]) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 4.2))
    axes = figure.subplots()
    for place, one in enumerate(ranking):
        times_s, regrets = zip(*one.regret, strict=True)
        line, colour = divmod(place, len(COLOURS))
        axes.plot(
            times_s,
            regrets,
            _LINES[line % len(_LINES)],
            color=COLOURS[colour],
            linewidth=1.3,
            drawstyle="steps-post",
            label=one.method,
        )
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlim(*_span_s(ranking))
    axes.set_ylim(0, 1)
    axes.set_xlabel("seconds of probing")
    axes.set_ylabel("mean regret: 1 - share of the best")
    axes.grid(color=GRID_COLOUR, linewidth=0.6)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)
    return figure


def _span_s(ranking: Sequence[Finished]) -> tuple[float, float]:
    """From the first known value to the last change."""
    times_s = [time_s for time_s, _ in ranking[0].regret]
    values = [tuple(regret for _, regret in one.regret) for one in ranking]
    at_each = list(zip(*values, strict=True))
    changes = [i for i in range(1, len(times_s)) if at_each[i] != at_each[i - 1]]
    if not changes:
        return times_s[0], times_s[-1]
    return times_s[changes[0] - 1], times_s[min(changes[-1] + 1, len(times_s) - 1)]
