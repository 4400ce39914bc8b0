"""docs/benchmarks-transfers.md, from the results alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from advisor.domain.quantities import format_bytes, format_duration
from tests.benchmarks.markdown import filled, percent, table_text
from tests.benchmarks.transfers.basis import basis_text
from tests.benchmarks.transfers.cases import (
    ALTERNATING,
    BEST,
    CONDITIONS,
    CONDITIONS_PART,
    CONGESTION,
    CONTESTANTS,
    DECIDED,
    DEFAULT,
    NC,
    NONE,
    PAIR,
    PAIR_PART,
    PAPERS_OTHERS,
    PAPERS_RESTARTS,
    PLAIN,
    PRICE,
    RATE_BPS,
    RESTARTING,
    RETUNED,
    RETUNING_PART,
    RTT_S,
    SWEPT,
    TURN,
    Condition,
)
from tests.benchmarks.transfers.figures import figures
from tests.benchmarks.transfers.results import Results, Run, Swept
from tests.benchmarks.transfers.summary import (
    jains_index,
    last_setting,
    lost_share,
    mean_flows,
    median_rate_bps,
    rate_bps,
    rates_bps,
    readapted_s,
    spread_words,
)
from tests.benchmarks.wan.hosts import Trouble
from tests.benchmarks.wan.results import Late, Machine
from tests.benchmarks.wan.where import where_text

_LEFT_OUT_EPOCHS = 2
"""Of a comparison of two ways of running the same setting: connections are being made."""


def write_document(results: Results, page: Path) -> None:
    """Write it. Raises Trouble when there are no results yet."""
    page.write_text(document_text(results))


def document_text(results: Results) -> str:
    """The page. Raises Trouble where there are no results."""
    shown = tables(results)
    head = ["# Tuned transfers", _introduction(results), basis_text(results)]
    parts = [*head, shown, _method(results)]
    where = where_text(results.all(Machine), results.all(Late), "Both hosts")
    return "\n\n".join(part for part in [*parts, where] if part) + "\n"


def tables(results: Results) -> str:
    """All tables, as Markdown. Raises Trouble where there are no results."""
    if not any(not run.trouble for run in results.all(Run)):
        raise Trouble(f"{results.file} has no transfer: measure first, without --document")
    parts = [_condition(condition, results) for condition in CONDITIONS.values()]
    parts += [_sweeps(results), _restarts(results), _retuning(results), _pair(results)]
    parts.append(figures(results))
    return "\n\n".join(part for part in [*parts, _troubles(results)] if part)


def _introduction(results: Results) -> str:
    return filled(
        "`make bench-transfers` (`python -m tests.benchmarks.transfers`; the figures are "
        f"[benchmarks/{results.file.name}](benchmarks/{results.file.name})). The amount that "
        "`advisor transfer` moves in a fixed time, compared with Globus's default of two files at "
        "a time over eight streams, with the best fixed setting, and with the figures of "
        "Balaprakash et al. (2016), whose tuners, loads and proportions are used here. Those were "
        "measured on other machines and faster paths: only ratios and their direction can be "
        "compared."
    )


def _mbit(bps: float | None) -> str:
    return "–" if bps is None else f"{bps / 1e6:.0f}"


def _ratio(bps: float | None, by_bps: float | None) -> str:
    return "–" if bps is None or not by_bps else f"{bps / by_bps:.2f}"


def _name(contestant: str) -> str:
    if contestant == PLAIN:
        return "`globus-url-copy -cc 2 -p 8` alone"
    words = {
        RESTARTING: ", clients restarted each epoch",
        NC: ", concurrency alone",
        DECIDED: ", epochs until decided",
    }
    for suffix, text in words.items():
        if contestant.endswith(suffix):
            return contestant.removesuffix(suffix) + text
    return contestant


def _condition(condition: Condition, results: Results) -> str:
    shown = {
        contestant: runs
        for contestant in CONTESTANTS
        if (runs := results.runs(CONDITIONS_PART, condition.key, contestant))
    }
    if not shown:
        return ""
    is_steady = len(condition.loads) == 1
    table = _steady_table(shown) if is_steady else _changing_table(shown)
    others = f"; {PAPERS_OTHERS}" if is_steady and condition.key != NONE else ""
    paper = filled(f"In the paper, whose tuners restart all clients: {condition.paper}{others}.")
    return f"## {condition.title}\n\n{table}\n\n{paper}"


def _common_s(first: Sequence[Run], second: Sequence[Run]) -> float:
    """The shortest duration of these runs."""
    return min(run.looks[-1].at_s for run in (*first, *second))


def _steady_table(shown: dict[str, list[Run]]) -> str:
    head = ["", "runs", "moved", "Mbit/s", "÷ default", "second half, Mbit/s", "÷ default"]
    head += ["flows", "at"]
    default = shown.get(DEFAULT, [])
    rows = []
    for contestant, runs in shown.items():
        end_s = _common_s(runs, default)
        whole, half = (
            (median_rate_bps(some, from_s, end_s), median_rate_bps(default, from_s, end_s))
            for some, from_s in ((runs, 0.0), (runs, end_s / 2))
        )
        rows.append(
            [
                _name(contestant),
                str(len(runs)),
                f"{_moved(runs)} in {format_duration(end_s)}",
                spread_words(rates_bps(runs, 0.0, end_s)),
                _ratio(*whole),
                spread_words(rates_bps(runs, end_s / 2, end_s)),
                _ratio(*half),
                _flows(runs, end_s / 2),
                _settings(runs),
            ]
        )
    return table_text(head, rows)


def _flows(runs: Sequence[Run], from_s: float) -> str:
    """The mean from that time on; a dash for the tool alone, which does not report them."""
    known = [run.flows for run in runs if run.flows]
    return f"{fmean(mean_flows(flows, from_s) for flows in known):.0f}" if known else "–"


def _moved(runs: Sequence[Run]) -> str:
    return format_bytes(round(fmean(run.looks[-1].stored_bytes for run in runs)))


def _settings(runs: Sequence[Run]) -> str:
    """Their final settings."""
    named = (run.setting.replace("x", " × ") or last_setting(run) for run in runs)
    return ", ".join(name or "2 × 8" for name in named)


def _changing_table(shown: dict[str, list[Run]]) -> str:
    head = ["", "runs", "moved", "before, Mbit/s", "÷ default", "after, Mbit/s", "÷ default"]
    head += ["settled after the change in", "at"]
    default = shown.get(DEFAULT, [])
    rows = []
    for contestant, runs in shown.items():
        turn_s = fmean(run.turned_s or 0.0 for run in runs)
        before, before_default = (median_rate_bps(some, 0.0, turn_s) for some in (runs, default))
        after, after_default = (median_rate_bps(some, turn_s) for some in (runs, default))
        rows.append(
            [
                _name(contestant),
                str(len(runs)),
                _moved(runs),
                spread_words(rates_bps(runs, 0.0, turn_s)),
                _ratio(before, before_default),
                spread_words(rates_bps(runs, turn_s)),
                _ratio(after, after_default),
                _readapted(runs),
                _settings(runs),
            ]
        )
    return table_text(head, rows)


def _readapted(runs: Sequence[Run]) -> str:
    times = [readapted_s(run) for run in runs]
    return ", ".join("not" if time_s is None else f"{time_s:.0f} s" for time_s in times)


def _sweeps(results: Results) -> str:
    swept = results.all(Swept)
    if not swept:
        return ""
    loads = list(dict.fromkeys(one.load for one in swept))
    by_load = {load: {one.setting: one.bps for one in swept if one.load == load} for load in loads}
    rows = [[load, *(_mbit(by_load[load].get(setting)) for setting in SWEPT)] for load in loads]
    seconds = ", ".join(sorted({f"{one.seconds:g}" for one in swept}))
    text = filled(
        f"Mbit/s, each setting once for {seconds} s, without the first third of that. The best "
        f"setting here is `{BEST}` above; if the load changes, the best by the mean of both loads."
    )
    head = ["", *(setting.replace("x", " × ") for setting in SWEPT)]
    return f"## Fixed settings\n\n{text}\n\n{table_text(head, rows)}"


def _restarts(results: Results) -> str:
    rows = []
    for condition in CONDITIONS.values():
        for contestant in CONTESTANTS:
            name = contestant.removesuffix(RESTARTING)
            restarting = results.runs(CONDITIONS_PART, condition.key, contestant)
            plain = results.runs(CONDITIONS_PART, condition.key, name)
            if name == contestant or not restarting or not plain:
                continue
            bps, by_bps = _of_same_time(restarting, plain)
            lost = percent(lost_share(bps, by_bps))
            paper = PAPERS_RESTARTS.get(condition.key, "–")
            rows.append([condition.title, name, _mbit(by_bps), _mbit(bps), lost, paper])
    if not rows:
        return ""
    text = filled(
        "`--restart-epochs` ends all clients at the end of each epoch and starts new ones, as the "
        "paper's tuners do; otherwise nothing is restarted. The default keeps its setting, so its "
        "loss is due to restarts alone. The paper computes its overhead from the rates that the "
        "clients report (section IV.A, figures 5 and 7). Its epochs last 30 s, those here "
        f"{_epochs(results, CONDITIONS_PART)}, and a restart takes as long in both."
    )
    head = ["", "", "Mbit/s", "with restarts", "lost", "lost in the paper"]
    return f"## The cost of restarts\n\n{text}\n\n{table_text(head, rows)}"


def _epochs(results: Results, part: str) -> str:
    lengths = sorted({run.epoch_s for run in results.all(Run) if run.part == part})
    return ", ".join(format_duration(epoch_s) for epoch_s in lengths)


def _of_same_time(first: Sequence[Run], second: Sequence[Run]) -> tuple[float | None, float | None]:
    """The mean rates of both over their common time, without the first epochs."""
    end_s, from_s = _common_s(first, second), _LEFT_OUT_EPOCHS * first[0].epoch_s
    return median_rate_bps(first, from_s, end_s), median_rate_bps(second, from_s, end_s)


def _retuning(results: Results) -> str:
    lengths = sorted({run.epoch_s for run in results.all(Run) if run.part == RETUNING_PART})
    rows = [row for epoch_s in lengths for row in _retuning_rows(results, epoch_s)]
    if not rows:
        return ""
    text = filled(
        "Without external load. A method of the benchmark alternates at the end of every epoch "
        "between two settings with the same number of streams. A negative value is a gain, and "
        "shows how large chance differences are. The shorter an epoch is, the shorter are pieces, "
        "and the more often clients start; this is the loss of the fixed setting relative to the "
        "tool alone. The paper's epochs last 30 s, and it has no figure for changes alone: its "
        "17 to 50 % are due to restarts. The goal here was 2 %."
    )
    table = table_text(["epochs", "Mbit/s", "lost"], rows)
    return f"## The cost of a change\n\n{text}\n\n{table}"


def _retuning_rows(results: Results, epoch_s: float) -> list[list[str]]:
    """Those of epochs of that length; none where one of the contestants is missing."""
    runs = {
        name: [r for r in results.runs(RETUNING_PART, NONE, name) if r.epoch_s == epoch_s]
        for name in (PLAIN, DEFAULT, *RETUNED, ALTERNATING)
    }
    if not all(runs.values()):
        return []
    end_s = min(_common_s(some, ()) for some in runs.values())
    from_s = _LEFT_OUT_EPOCHS * epoch_s
    bps = {name: median_rate_bps(some, from_s, end_s) for name, some in runs.items()}
    fixed = fmean(bps[name] or 0.0 for name in RETUNED)
    first, second = (name.replace("x", " × ") for name in RETUNED)
    changes = fmean(len(run.changes) for run in runs[ALTERNATING])
    rows = [
        [f"`globus-url-copy -cc 2 -p 8` alone: {_each(runs[PLAIN], from_s, end_s)}", "–"],
        [
            f"2 × 8, fixed: {_each(runs[DEFAULT], from_s, end_s)}",
            f"{percent(lost_share(bps[DEFAULT], bps[PLAIN]))} of the rate of the tool alone",
        ],
        *(
            [f"{name.replace('x', ' × ')}, fixed: {_each(runs[name], from_s, end_s)}", "–"]
            for name in RETUNED
        ),
        [
            f"{first} and {second} alternately, {changes:.0f} changes: "
            f"{_each(runs[ALTERNATING], from_s, end_s)}",
            f"{percent(lost_share(bps[ALTERNATING], fixed))} of the mean of the two fixed settings",
        ],
    ]
    return [[format_duration(epoch_s), *row] for row in rows]


def _each(runs: Sequence[Run], from_s: float, until_s: float) -> str:
    return ", ".join(_mbit(rate_bps(run.looks, from_s, until_s)) for run in runs)


def _pair(results: Results) -> str:
    rows = []
    for price in ("", PRICE):
        runs = results.runs(PAIR_PART, NONE, price)
        for number in sorted({run.number for run in runs}):
            both = {run.host: run for run in runs if run.number == number}
            if both.keys() != PAIR.keys():
                continue
            rates = [rate_bps(both[host].looks) for host in PAIR]
            late = [both[host].looks[-1].at_s / 2 for host in PAIR]
            flows = [
                mean_flows(both[host].flows, from_s)
                for host, from_s in zip(PAIR, late, strict=True)
            ]
            total = sum(rates)
            rows.append(
                [
                    f"`--price {price}`" if price else "no price",
                    *(f"{_mbit(bps)} ({percent(bps / total if total else None)})" for bps in rates),
                    _mbit(total),
                    " and ".join(f"{count:.0f}" for count in flows),
                    f"{jains_index(rates):.2f}",
                ]
            )
    if not rows:
        return ""
    paths = ", ".join(f"{host} by `{path}`" for host, path in PAIR.items())
    text = filled(
        f"Two transfers from one source, to {paths}, each tuned by Nelder-Mead without knowledge "
        f"of the other; they share the source's interface of {RATE_BPS / 1e6:g} Mbit/s, and there "
        "is no other load. Flows are those of the second half. In the paper (section IV.D, figure "
        "11) the transfer to Chicago gains at the expense of that to Texas, which reacts with more "
        "streams; the paper has no price."
    )
    head = ["", *(f"{host}, Mbit/s (share)" for host in PAIR), "together", "flows", "Jain's index"]
    return f"## Two transfers at once\n\n{text}\n\n{table_text(head, rows)}"


def _epochs_words(results: Results) -> str:
    """How many epochs the runs had, beside the paper's."""
    runs = [run for run in results.all(Run) if _is_under_load(run)]
    counts = sorted({round(run.seconds / run.epoch_s) for run in runs})
    words = ", ".join(str(count) for count in counts)
    return f"A run has {words or 'no'} epochs; the paper's have 60 of 30 s."


def _is_under_load(run: Run) -> bool:
    return run.part == CONDITIONS_PART and not run.trouble


def _troubles(results: Results) -> str:
    """What failed and was not repeated."""
    lines = []
    for run in results.all(Run):
        good = results.runs(run.part, run.condition, run.contestant)
        if run.trouble and not any(one.number == run.number for one in good):
            lines.append(f"- {run.part}, {run.condition}, {run.contestant}: {run.trouble}")
    return "## What failed\n\n" + "\n".join(dict.fromkeys(lines)) if lines else ""


def _method(results: Results) -> str:
    seconds = ", ".join(
        sorted({format_duration(run.seconds) for run in results.all(Run) if _is_under_load(run)})
    )
    most = max(run.number for run in results.all(Run)) + 1
    lines = [
        f"The path: `advisor lab`, {RTT_S * 1000:g} ms as to Texas, {RATE_BPS / 1e6:g} Mbit/s, a "
        "queue of one bandwidth-delay product.",
        f"Both hosts use TCP {CONGESTION}: similar to the paper's Hamilton TCP, and available in "
        "every kernel.",
        "The loads are the lab's: ext.tfr parallel streams from source to destination, ext.cmp "
        "processes that multiply matrices on all cores. There is one machine, so computing also "
        "loads the destination, unlike in the paper. The emulator has priority over it.",
        "If the load changes, it does so after "
        f"{100 * TURN:.0f} % of the time, as after 1000 of 1800 s in the paper. Settled: from the "
        "change until the mean of three epochs first reaches 90 % of that of the last quarter.",
        "Files are larger than can be moved, sparse at the source and in memory at the "
        "destination: no disk is involved, as with /dev/zero and /dev/null in the paper. The bytes "
        "in the destination's file system are counted, once a second.",
        f"A run under a load takes {seconds}, epochs {_epochs(results, CONDITIONS_PART)}; in the "
        "paper 1800 s and 30 s. It is stopped by SIGINT. Pieces are a quarter of an epoch, here "
        "mostly up to half of one, because four times the set-up time of a client is longer; with "
        "epochs of 30 s they take 5 s, and clients start less often.",
        f"{_epochs_words(results)} {most} run(s) of each, fewer where a table says so: the median, "
        "with the least and the most in brackets. With one run, differences of a few percent mean "
        "little, and nothing is said of whether a search ends in the same place again.",
        "The history is empty for each run. Restarted runs of the default are half as long: the "
        "amounts moved in the same time are compared.",
    ]
    return "## How it is measured\n\n" + "\n".join(filled(f"- {line}") for line in lines)
