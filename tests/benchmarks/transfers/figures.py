"""The figures of the paper beside what was measured: 1, 6, 10 and 11 as tables. Pure.

Figure 5 is the table of each load, figure 7 that of the cost of restarts. The paper's numbers are
those of its text: its figures are not read off.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Final

from tests.benchmarks.markdown import filled, table_text
from tests.benchmarks.transfers.cases import (
    COMPUTE,
    COMPUTE_16,
    CONDITIONS,
    CONDITIONS_PART,
    DEFAULT,
    FIGURE_1,
    FIGURE_1_PART,
    FIGURE_1_SETTINGS,
    HEURISTICS,
    NC,
    NONE,
    PAIR,
    PAIR_PART,
    TRAFFIC,
    TRAFFIC_16,
    TUNERS,
)
from tests.benchmarks.transfers.results import Results, Run
from tests.benchmarks.transfers.summary import rate_bps, spread_words

_PAPERS_NC: Final = {NONE: "5", COMPUTE_16: "50", COMPUTE: "80", TRAFFIC_16: "25", TRAFFIC: "35"}
"""Figure 6 and section IV.A: the concurrency that cs-tuner and nm-tuner come to, at np = 8."""

_LATE: Final = 0.75


def figures(results: Results) -> str:
    """All that there is something of; "" for nothing."""
    parts = [_figure_1(results), _figure_6(results), _figure_10(results), _figure_11(results)]
    return "\n\n".join(part for part in parts if part)


def _figure_1(results: Results) -> str:
    rows = []
    for condition in FIGURE_1.values():
        rates = {
            setting: [rate_bps(run.looks) for run in found]
            for setting in FIGURE_1_SETTINGS
            if (found := results.runs(FIGURE_1_PART, condition.key, setting))
        }
        if rates:
            best = max(rates, key=lambda setting: median(rates[setting]))
            cells = (spread_words(rates.get(setting, [])) for setting in FIGURE_1_SETTINGS)
            rows.append([condition.title, *cells, best.split("x")[0], condition.paper])
    if not rows:
        return ""
    text = filled(
        "Mbit/s over the number of concurrent files with one stream each. In the paper throughput "
        "rises to a critical number and falls beyond it, and that number rises with the load."
    )
    files = (setting.split("x")[0] for setting in FIGURE_1_SETTINGS)
    head = ["", *files, "best", "best in the paper"]
    return f"## Figure 1: throughput over concurrency\n\n{text}\n\n{table_text(head, rows)}"


def late_concurrency(run: Run) -> float | None:
    """The median number of clients in the last quarter of the run; None if none were reported."""
    late = [flow.clients for flow in run.flows if flow.at_s >= _LATE * run.seconds]
    return median(late) if late else None


def _figure_6(results: Results) -> str:
    rows = []
    for condition in CONDITIONS.values():
        cells = []
        for name in TUNERS:
            runs = results.runs(CONDITIONS_PART, condition.key, f"{name}{NC}")
            found = [n for run in runs if (n := late_concurrency(run)) is not None]
            cells.append(_counts(found))
        if any(cell != "–" for cell in cells):
            rows.append([condition.title, *cells, _PAPERS_NC.get(condition.key, "–")])
    if not rows:
        return ""
    text = filled(
        "Concurrent files in the last quarter of the run, at eight streams each: the median of the "
        "runs, with the least and the most. The paper's are those of compass search and "
        "Nelder-Mead."
    )
    table = table_text(["", *TUNERS, "the paper's"], rows)
    return f"## Figure 6: the concurrency that is found\n\n{text}\n\n{table}"


def _counts(found: Sequence[float]) -> str:
    if not found:
        return "–"
    if len(found) == 1:
        return f"{found[0]:.0f}"
    return f"{median(found):.0f} ({min(found):.0f} to {max(found):.0f})"


def _figure_10(results: Results) -> str:
    names = ("nelder-mead", *HEURISTICS)
    rows = []
    for condition in CONDITIONS.values():
        default = results.runs(CONDITIONS_PART, condition.key, DEFAULT)
        runs = {name: results.runs(CONDITIONS_PART, condition.key, name) for name in names}
        if not default or not all(runs[name] for name in HEURISTICS):
            continue
        by_bps = median(rate_bps(run.looks) for run in default)
        rows.append([condition.title, *(_times(runs[name], by_bps) for name in names)])
    if not rows:
        return ""
    text = filled(
        "What was moved ÷ that of the default, concurrency and streams tuned together. In the "
        "paper (section IV.C) Nelder-Mead and heur2 reach the most that can be had in a few "
        "epochs, and heur1 needs many more, since it goes up by one."
    )
    head = ["", *names]
    return f"## Figure 10: the heuristics\n\n{text}\n\n{table_text(head, rows)}"


def _times(runs: Sequence[Run], by_bps: float) -> str:
    if not runs or not by_bps:
        return "–"
    ratios = [rate_bps(run.looks) / by_bps for run in runs]
    if len(ratios) == 1:
        return f"{ratios[0]:.2f}"
    return f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def _figure_11(results: Results) -> str:
    """Which of the two had more, in words; the table is that of two transfers at once."""
    shares = []
    for number in sorted({run.number for run in results.runs(PAIR_PART, NONE, "")}):
        both = {
            run.host: rate_bps(run.looks)
            for run in results.runs(PAIR_PART, NONE, "")
            if run.number == number
        }
        if both.keys() == PAIR.keys() and sum(both.values()) > 0:
            shares.append(both["chicago"] / sum(both.values()))
    if not shares:
        return ""
    share = median(shares)
    if share > 0.5:
        outcome = "as in the paper, the transfer to Chicago has more"
    elif share < 0.5:
        outcome = "the reverse of the paper's: the transfer to Texas has more"
    else:
        outcome = "not the paper's: both have as much"
    text = filled(
        f"Without a price the outcome is {outcome}. The share of Chicago is {share:.0%}, the "
        f"median of {len(shares)} run(s), from {min(shares):.0%} to {max(shares):.0%}. In the "
        "paper Chicago has the faster path, and gains at the expense of Texas."
    )
    return f"## Figure 11: which of two transfers has more\n\n{text}"
