"""The figures, as SVG whose text stays text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from tests.benchmarks.wan.cases import KERNELS_OWN, KIB, MIB
from tests.benchmarks.wan.results import IPERF3, Setting
from tests.benchmarks.wan.summary import SEARCHING, CaseSummary

_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "bench-wan",
    "font.size": 9,
    "font.family": "sans-serif",
}
_LOOKS = {
    "advise": ("o", "#0b6e99", "advisor advise, bayes"),
    "before": ("v", "#8fbcd4", "the version before"),
    "advise-spsa": ("D", "#3a9d5d", "advisor advise, SPSA"),
    "spsa": ("s", "#d9822b", "SPSA, the paper's"),
    "default": ("_", "#6b6b6b", "one TCP stream"),
    IPERF3: ("x", "#9a9a9a", "iperf3"),
    "udt": ("^", "#7b4fa3", "UDT, its defaults"),
}


def _save(figure: Figure, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, format="svg", bbox_inches="tight", metadata={"Date": None})
    lines = file.read_text().splitlines()
    file.write_text("\n".join(line.rstrip() for line in lines) + "\n")


def draw_ratios(summaries: list[CaseSummary], file: Path) -> None:
    """Every seed's ratio, case by case."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(1.4 + 1.25 * len(summaries), 3.4))
        axes = figure.subplots()
        for number, (method, (marker, colour, label)) in enumerate(_LOOKS.items()):
            places: list[float] = []
            values: list[float] = []
            for at, summary in enumerate(summaries):
                ratios = summary.ratios(method)
                jitter = np.linspace(-0.05, 0.05, len(ratios)) if len(ratios) != 1 else [0.0]
                places += [at + 0.13 * (number - 3) + float(j) for j in jitter]
                values += ratios
            axes.scatter(places, values, marker=marker, color=colour, s=22, label=label)
        axes.axhline(1.0, color="#bbbbbb", linewidth=0.8, zorder=0)
        axes.set_xticks(range(len(summaries)), [f"({s.case.key})" for s in summaries])
        axes.set_ylabel("rate ÷ best of the sweep")
        axes.set_ylim(bottom=0)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=3, frameon=False)
        _save(figure, file)


def draw_costs(summaries: list[CaseSummary], file: Path) -> None:
    """Probes and seconds of what searches, and of the sweep."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(7.5, 2.8))
        figure.subplots_adjust(wspace=0.3)
        for axes, what in zip(figure.subplots(1, 2), ("probes", "seconds"), strict=True):
            for number, method in enumerate(SEARCHING):
                marker, colour, label = _LOOKS[method]
                places, values = [], []
                for at, summary in enumerate(summaries):
                    for point in summary.points.get(method, []):
                        places.append(at + 0.2 * (number - 1.5))
                        values.append(getattr(point.run, what))
                axes.scatter(places, values, marker=marker, color=colour, s=18, label=label)
            sweeps = [s.sweep_probes if what == "probes" else s.sweep_s for s in summaries]
            axes.scatter(
                range(len(sweeps)), sweeps, marker="P", color="#444444", s=18, label="sweep"
            )
            axes.set_xticks(range(len(summaries)), [f"({s.case.key})" for s in summaries])
            axes.set_ylabel(what)
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_formatter("")
        figure.axes[0].legend(
            loc="upper center", bbox_to_anchor=(1.1, -0.12), ncols=3, frameon=False
        )
        _save(figure, file)


def _size(buffer_bytes: int) -> str:
    if buffer_bytes == KERNELS_OWN:
        return "kernel's"
    whole = buffer_bytes % MIB == 0
    return f"{buffer_bytes // MIB} MiB" if whole else f"{buffer_bytes // KIB} KiB"


def _place(setting: Setting, streams: list[int], buffers: list[int]) -> tuple[float, float]:
    """Where a setting lies on the grid's axes: between cells where it is between them."""
    column = float(np.interp(setting.get("streams", 1), streams, range(len(streams))))
    buffer_bytes = setting.get("buffer_bytes", 0)
    sized = [size for size in buffers if size]
    if not buffer_bytes:
        return column, float(buffers.index(KERNELS_OWN)) if KERNELS_OWN in buffers else -0.5
    rows = range(len(buffers) - len(sized), len(buffers))
    return column, float(np.interp(np.log(buffer_bytes), np.log(sized), rows))


def draw_sweep(summary: CaseSummary, file: Path) -> None:
    """The sweep as a heat map, with the TCP settings that were found."""
    streams = sorted({p for p, _ in summary.cells})
    buffers = sorted({w for _, w in summary.cells})
    rates = np.full((len(buffers), len(streams)), np.nan)
    for (p, w), bps in summary.cells.items():
        rates[buffers.index(w), streams.index(p)] = bps / 1e6
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(5.6, 3.2))
        axes = figure.subplots()
        axes.pcolormesh(rates, cmap="YlGnBu", vmin=0, vmax=float(np.nanmax(rates)))
        middle = float(np.nanmax(rates)) / 2
        for (row, column), rate in np.ndenumerate(rates):
            if not np.isnan(rate):
                colour = "white" if rate > middle else "black"
                axes.text(column + 0.5, row + 0.3, f"{rate:.0f}", ha="center", color=colour, size=7)
        for number, method in enumerate(SEARCHING):
            marker, _, label = _LOOKS[method]
            places = [
                _place(point.run.setting, streams, buffers)
                for point in summary.points.get(method, [])
                if point.run and point.run.setting and point.run.transport == "tcp"
            ]
            axes.scatter(
                [x + 0.2 + 0.2 * number for x, _ in places],
                [y + 0.65 for _, y in places],
                marker=marker,
                color=("#e6550d", "#9e9ac8", "#6baed6", "#fdd835")[number],
                edgecolor="black",
                linewidth=0.6,
                s=26,
                label=label,
            )
        axes.set_xticks(np.arange(len(streams)) + 0.5, [str(p) for p in streams])
        axes.set_yticks(np.arange(len(buffers)) + 0.5, [_size(w) for w in buffers])
        axes.set_xlabel("streams")
        axes.set_ylabel("buffer")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, frameon=False)
        axes.set_title("Mbit/s", fontsize=9, loc="right")
        _save(figure, file)
