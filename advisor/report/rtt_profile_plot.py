"""Throughput against the round-trip time as a figure: a box per RTT, a line per number of flows."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from advisor.report.plotting import COLOURS, GRID_COLOUR, styled, write_figure
from advisor.report.rtt_profile import RttProfile

_MS: Final = 1e3
_GBPS: Final = 1e-9
_COLUMNS: Final = 2
_BOX_WIDTH: Final = 0.24
"""As a share of the RTT: the axis is logarithmic."""


def write_rtt_plot(path: Path, profile: RttProfile) -> None:
    """Draw a panel for each subject and congestion control. Raises CannotPlot."""
    with styled():
        write_figure(path, _drawn(profile))


def _drawn(profile: RttProfile) -> Any:
    from matplotlib.figure import Figure

    panels = profile.panels
    rows = -(-len(panels) // _COLUMNS) or 1
    figure = Figure(figsize=(4.2 * _COLUMNS, 3.2 * rows))
    grid = figure.subplots(rows, _COLUMNS, squeeze=False, sharex=True, sharey=True).flatten()
    for axes, (title, curves) in zip(grid, panels.items(), strict=False):
        for place, (name, repeats) in enumerate(curves.items()):
            _draw_curve(axes, str(name.flows), repeats, COLOURS[place % len(COLOURS)])
        _label(axes, title, profile.rtts_s)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    figure.tight_layout()
    return figure


def _draw_curve(
    axes: Any, label: str, repeats: Mapping[float, Sequence[float]], colour: str
) -> None:
    rtts = np.array(sorted(repeats))
    rates = [np.asarray(repeats[rtt_s]) * _GBPS for rtt_s in rtts]
    axes.plot(rtts * _MS, [np.median(one) for one in rates], color=colour, label=label, lw=1.3)
    axes.boxplot(
        rates,
        positions=rtts * _MS,
        widths=rtts * _MS * _BOX_WIDTH,
        manage_ticks=False,
        boxprops={"color": colour, "lw": 0.8},
        whiskerprops={"color": colour, "lw": 0.8},
        capprops={"color": colour, "lw": 0.8},
        medianprops={"color": colour, "lw": 1.3},
        flierprops={"marker": ".", "markersize": 3, "markeredgecolor": colour},
    )


def _label(axes: Any, title: str, rtts_s: Sequence[float]) -> None:
    axes.set_xscale("log")
    axes.set_xticks([rtt_s * _MS for rtt_s in rtts_s])
    axes.minorticks_off()
    axes.xaxis.set_major_formatter("{x:.3g}")
    axes.tick_params(labelbottom=True)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("round-trip time, ms")
    axes.set_ylabel("throughput, Gbit/s")
    axes.set_title(title)
    axes.grid(color=GRID_COLOUR, linewidth=0.6)
    axes.legend(title="flows", frameon=False, fontsize=7)
