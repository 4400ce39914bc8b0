"""docs/benchmarks.md and its figures, from the results alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import median

from advisor.domain.quantities import format_bytes, format_duration
from advisor.domain.space import setting_words
from advisor.traits import describe
from tests.benchmarks.markdown import filled
from tests.benchmarks.wan.cases import (
    BEST_OF_SWEEP,
    CASES,
    PAPERS_PROBE_S,
    SPSA_CONSTANTS,
    Plan,
)
from tests.benchmarks.wan.hosts import Trouble
from tests.benchmarks.wan.plots import draw_costs, draw_ratios, draw_sweep
from tests.benchmarks.wan.results import Late, Machine, Results, Run
from tests.benchmarks.wan.summary import METHODS, SEARCHING, CaseSummary, Point, spread, summarize

_FOLDER = "benchmarks"


def write_document(results: Results, out: Path) -> None:
    """`out`/benchmarks.md, and the figures in a folder beside it."""
    found = [summarize(case, results) for case in CASES]
    summaries = [summary for summary in found if summary]
    machines = results.all(Machine)
    if not summaries or not machines:
        raise Trouble(f"{results.file} has no case that is complete")
    folder = out / _FOLDER
    draw_ratios(summaries, folder / "wan-ratios.svg")
    draw_costs(summaries, folder / "wan-costs.svg")
    for summary in summaries:
        draw_sweep(summary, folder / f"wan-sweep-{summary.case.key}.svg")
    (out / "benchmarks.md").write_text(document_text(machines, summaries, results.all(Late)))


def document_text(machines: list[Machine], summaries: list[CaseSummary], late: list[Late]) -> str:
    """The document."""
    plan = Plan(seeds=1, quick=machines[-1].quick)
    parts = [
        "# Advice compared with a sweep, on emulated paths",
        _quick_note(plan),
        _introduction(machines[-1], summaries),
        _overview(summaries),
        _against(summaries),
        *(_case(summary) for summary in summaries),
        _method(plan, machines[-1], summaries),
        _machine(machines, late),
    ]
    blocks = "\n\n".join(part for part in parts if part).split("\n\n")
    return "\n\n".join(_filled(block.strip("\n")) for block in blocks) + "\n"


def _filled(block: str) -> str:
    """A paragraph, or the entries of a list, with lines of one width; all else as it is."""
    if block.startswith(("#", "|", "!", "    ")):
        return block
    entries: list[str] = []
    for line in block.splitlines():
        if line.startswith("- ") or not entries:
            entries.append(line)
        else:
            entries[-1] += " " + line.strip()
    return filled("\n".join(entries))


def _quick_note(plan: Plan) -> str:
    return (
        "**A short trial (`--quick`), not the figures: one repetition, short probes.**"
        if plan.quick
        else ""
    )


def _introduction(machine: Machine, summaries: list[CaseSummary]) -> str:
    return f"""All of this is made again by

    make bench-wan

which measures, resumes after an interruption, and writes this page from
[{_FOLDER}/wan.jsonl]({_FOLDER}/wan.jsonl), one line for each measurement. The paths are those of
`advisor lab`, between two hosts on one machine with {machine.cores} cores: 1 Gbit/s each
way, MTU 9000. On each of them, at the times below:

- an exhaustive sweep of TCP, buffer × streams;
- `advisor advise` with no option but a seed and the search method: bayes, the default, and SPSA;
- SPSA with the constants of the ProbData paper and probes of one fixed length, TCP;
- the defaults without any search: one TCP stream with the kernel's buffers, measured like the sweep
  and by `iperf3`, and UDT with its defaults.{_before(summaries)}"""


def _before(summaries: list[CaseSummary]) -> str:
    """An entry of the list, empty where only one version was run."""
    if not any(summary.points.get("before") for summary in summaries):
        return ""
    return """
- "the version before": `advisor advise` with bayes as it was at the earlier times below, when a
  session divided all its time among the stages. What it found was measured again with the rest."""


def _overview(summaries: list[CaseSummary]) -> str:
    head = "| path | " + " | ".join(METHODS.values()) + " |"
    lines = [head, "|---" * (len(METHODS) + 1) + "|"]
    for summary in summaries:
        cells = [spread(summary.ratios(method)) for method in METHODS]
        lines.append(f"| ({summary.case.key}) {summary.case.title} | " + " | ".join(cells) + " |")
    return (
        "## The rate of the setting found ÷ the sweep's best\n\n"
        "Both measured again at the end, alternately. Median (least to most) over the seeds of\n"
        "searches, and over the rounds of fixed settings.\n\n"
        + "\n".join(lines)
        + f"\n\n![Ratio by path, method and seed]({_FOLDER}/wan-ratios.svg)\n\n"
        f"![Probes and seconds by path, method and seed]({_FOLDER}/wan-costs.svg)"
    )


def _against(summaries: list[CaseSummary]) -> str:
    """Where the figures show that the advice failed, by rule."""
    lines = []
    for summary in summaries:
        advised = summary.ratios("advise")
        if not advised:
            continue
        name, middle = f"({summary.case.key})", median(advised)
        ahead = [
            f"{METHODS[method]} ({median(summary.ratios(method)):.2f})"
            for method in METHODS
            if method != "advise" and summary.ratios(method)
            if median(summary.ratios(method)) > middle + 0.01
        ]
        if ahead:
            lines.append(
                f"- {name}: a higher median than advised ({middle:.2f}): {'; '.join(ahead)}."
            )
        if (worst := min(advised)) < 0.9:
            lines.append(
                f"- {name}: the worst seed's advice achieves {worst:.2f} of the sweep's best."
            )
        probes = _median_of(summary, "advise", lambda p: p.probes)
        fewer = _median_of(summary, "spsa", lambda p: p.probes)
        if fewer is not None and probes is not None and fewer < probes:
            lines.append(
                f"- {name}: SPSA with the paper's constants ended after {fewer:.0f} probe(s), "
                f"`advisor advise` after {probes:.0f} (median)."
            )
        ended_s = _median_of(summary, "advise", lambda p: p.seconds)
        if ended_s is not None and ended_s < summary.case.load_at_s:
            lines.append(
                f"- {name}: `advisor advise` ended after {ended_s:.0f} s (median), before the "
                "external load began: it advised for a path without load."
            )
    said = "\n".join(lines) or "- Nothing by these rules."
    return (
        "## Where the advice failed\n\n"
        "By rule: another median that is higher by more than 0.01, a worst seed below 0.9,\n"
        f"fewer probes for SPSA, an end before the external load.\n\n{said}"
    )


def _median_of(summary: CaseSummary, method: str, value: Callable[..., float]) -> float | None:
    values = [value(point.run) for point in summary.points.get(method, []) if point.run]
    return median(values) if values else None


def _case(summary: CaseSummary) -> str:
    case = summary.case
    rows = [_row(summary, method) for method in METHODS]
    settings = _seed_rows(summary)
    best = setting_words(summary.best)
    return f"""## ({case.key}) {case.title}

    advisor lab up wan {" ".join(case.options)}

The sweep: {summary.sweep_probes} probes in {format_duration(summary.sweep_s)}. Its best, measured
again: **{summary.best_bps / 1e6:.0f} Mbit/s** with {best}.

| | Mbit/s | ÷ sweep's best | gain over one stream | probes | seconds | sent |
|---|---|---|---|---|---|---|
{chr(10).join(rows)}

| seed | method | setting | Mbit/s | ÷ sweep's best | expected | ended |
|---|---|---|---|---|---|---|
{chr(10).join(settings)}

![The sweep, buffer by streams, and the settings found]({_FOLDER}/wan-sweep-{case.key}.svg)"""


def _row(summary: CaseSummary, method: str) -> str:
    points = summary.points.get(method, [])
    runs = [point.run for point in points if point.run]
    gains = [p.bps / summary.default_bps for p in points] if summary.default_bps else []
    cells = [
        METHODS[method],
        spread([p.bps / 1e6 for p in points], 0),
        spread([p.ratio for p in points]),
        spread(gains),
        spread([float(run.probes) for run in runs], 0),
        spread([run.seconds for run in runs], 0),
        format_bytes(median(run.sent_bytes for run in runs)) if runs else "–",
    ]
    return "| " + " | ".join(cells) + " |"


def _seed_rows(summary: CaseSummary) -> list[str]:
    return [
        _seed_row(method, point, point.run)
        for method in SEARCHING
        for point in summary.points.get(method, [])
        if point.run
    ]


def _seed_row(method: str, point: Point, run: Run) -> str:
    found = describe(run.transport, run.setting) if run.setting else "none"
    cells = [
        str(run.seed),
        METHODS[method],
        found,
        f"{point.bps / 1e6:.0f}",
        f"{point.ratio:.2f}",
        f"{run.claimed_bps / 1e6:.0f}",
        run.ended,
    ]
    return "| " + " | ".join(cells) + " |"


def _lateness(late: list[Late]) -> str:
    """Whether the machine kept up; empty where it is not known."""
    if not late:
        return ""
    worst = max(late, key=lambda one: one.p99_s)
    return f"""The emulator reports how late it delivered packets. In the median lab 99 % were
{format_duration(median(one.p99_s for one in late))} late at most; in the worst, during
`{worst.part}` on path ({worst.case}), {format_duration(worst.p99_s)}."""


def _method(plan: Plan, machine: Machine, summaries: list[CaseSummary]) -> str:
    constants = ", ".join(f"{name} = {value:g}" for name, value in SPSA_CONSTANTS.items())
    rounds = sorted({summary.rounds for summary in summaries})
    several = " or ".join(str(number) for number in rounds)
    hours = _papers_time(summaries)
    return f"""## How it is measured

- **One instrument.** The sweep, SPSA's probes and all repeated measurements use advisor's own
  prober, over its agent. Each probe has a fixed length. In the sweep and in SPSA's search the
  start is excluded (12 round trips, at least 1 s), then {plan.sweep_s:g} s and {plan.spsa_s:g} s
  count. In repeated measurements 16 round trips, at least 3 s, are excluded, then
  {plan.again_s:g} s count: closer to a long transfer, since with loss a window that slow start made
  too large takes seconds to shrink. `advisor advise` chooses the length of its probes. `iperf3` is
  the program, with the start omitted (`-O`), both rounded up to whole seconds.
- **The ratio** is one of means over the same {several} round(s) at the end of a case: in
  each, all settings found and the sweep's {BEST_OF_SWEEP} best are measured once, in random
  order. The greatest mean of these {BEST_OF_SWEEP} is the sweep's best. As a maximum of noisy
  values it is biased upwards. A ratio above 1 means a setting that is not on the grid, or noise.
- **The sweep** covers its grid {plan.repeats} time(s) in random order, after the first time only
  its best third. The figures in the maps are means.
- **SPSA** has {constants}, the bandwidth of 1 Gbit/s given, the buffer's range by equation 11 and
  streams from 1 to 25; it stops by its own conditions, or after the time that `advisor
  advise` has on that path (60 s up to 100 ms of RTT, proportionally more above). The paper does not
  state the length of its probes in the experiments; its numerical example has
  {PAPERS_PROBE_S / 60:.0f} minutes. {hours}
- **UDT's defaults** are libudt's: packets of 1500 B, buffers of 8192 packets, and the blocks of
  100 kB of its sample program.
- **Congestion control.** The hosts report `cubic`, and every connection requests it by name,
  including the defaults and `iperf3` (`-C cubic`). The paths with external load use the machine's
  own, {machine.hosts_congestion}, as that load does.
- **External load** starts after a method's start by the time in the path's title. A method that
  ended earlier was not affected. The sweep and the repeated measurements run under it.
- **New for each run** of a method: the lab, its emulator's seed, and an empty history. The order of
  the methods changes from seed to seed.
- "sent" is all that crossed the path towards the destination meanwhile, including external load."""


def _papers_time(summaries: list[CaseSummary]) -> str:
    probes = [
        point.run.probes
        for summary in summaries
        for point in summary.points.get("spsa", [])
        if point.run
    ]
    if not probes:
        return ""
    seconds = median(probes) * PAPERS_PROBE_S
    return f"At that length the median run here would take {format_duration(seconds)}."


def _machine(machines: list[Machine], late: list[Late]) -> str:
    last = machines[-1]
    versions = ", ".join(f"{name} {version}" for name, version in last.versions.items())
    begun = "\n".join(
        f"- {machine.when}: `{machine.command}`, load average {machine.load_1min:.2f} before"
        for machine in machines
    )
    return f"""## Where

{last.processor}, {last.cores} cores, {format_bytes(last.memory_bytes)} of memory, Linux
{last.kernel}; {versions}. Both hosts, the emulator and the programs share these cores, so the
machine may limit a path to less than its rate.
{_lateness(late)}

Started or resumed with:

{begun}"""
