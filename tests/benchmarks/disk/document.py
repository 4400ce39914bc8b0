"""The tables of docs/benchmarks-disk.md, from the results alone."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from advisor.domain.advice import Estimate
from advisor.domain.quantities import format_bytes, format_rate
from advisor.domain.space import setting_words
from advisor.models.composition import limit_words
from tests.benchmarks.disk.cases import BEFORE, cases_of
from tests.benchmarks.disk.results import Results, Session
from tests.benchmarks.disk.summary import USEFUL, Summary, summarize
from tests.benchmarks.disk.tools import GLOBUS_URL_COPY, BenchTool
from tests.benchmarks.wan.hosts import Trouble
from tests.benchmarks.wan.results import Late, Machine, Timed
from tests.benchmarks.wan.summary import spread

END = "<!-- end -->"


def beginning(tool: BenchTool) -> str:
    """The mark above its tables."""
    which = "" if tool is GLOBUS_URL_COPY else f"--tool {tool.key} "
    return f"<!-- made by python -m tests.benchmarks.disk {which}--document -->"


def write_document(results: Results, page: Path, tool: BenchTool = GLOBUS_URL_COPY) -> None:
    """Put the tables between the page's marks. Raises Trouble where there are none."""
    text, mark = page.read_text(), beginning(tool)
    before, begin, rest = text.partition(mark)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise Trouble(f"{page} has no lines {mark} and {END}")
    page.write_text(f"{before}{mark}\n\n{tables(results, tool)}\n\n{END}{after}")


def tables(results: Results, tool: BenchTool = GLOBUS_URL_COPY) -> str:
    """All of them, as Markdown; of other tools a level below the tool's heading."""
    found = [summary for case in cases_of(tool) for summary in summarize(case, results)]
    if not found:
        raise Trouble(f"{results.file} has no case with advice")
    parts = [
        _lines_table(found),
        _settings_table(found),
        _sweep_table(found),
        _subsystems(found),
        _against(found, results),
        _machine(results),
    ]
    text = "\n\n".join(part for part in parts if part)
    return text if tool is GLOBUS_URL_COPY else text.replace("## ", "### ")


def _table(title: str, head: list[str], rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in (head, *rows)]
    lines.insert(1, "|---" * len(head) + "|")
    return f"## {title}\n\n" + "\n".join(lines)


def _name(summary: Summary) -> str:
    method = summary.session.method
    if method == BEFORE:
        return f"{summary.case.title}, the version before"
    return summary.case.title + ("" if method == "bayes" else f" ({method})")


def _stated(estimate: Estimate | None, digits: int) -> str:
    if estimate is None:
        return "–"
    low, high = estimate.interval
    return f"{estimate.value:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def _lines_table(found: list[Summary]) -> str:
    head = ["path, dataset", "stated, s", "line, s", "inside"]
    for default in found[0].case.tool.defaults:
        head += [f"{default}, s", "gain stated", "gain measured"]
    rows = [
        [
            _name(one),
            _stated(one.session.transfer_s, 1),
            spread(one.advised_s, 1),
            f"{one.in_interval} of {one.runs}{'' if one.lands else ' **✗**'}",
            *(cell for default in one.case.tool.defaults for cell in _gain_cells(one, default)),
        ]
        for one in found
    ]
    return _table("The line, copied into a shell", head, rows)


def _gain_cells(one: Summary, default: str) -> list[str]:
    gain = one.gain(default)
    return [
        spread(one.default_s[default], 1),
        _stated(one.stated_gain(default), 2),
        ("–" if gain is None else f"{gain:.2f}") + ("" if one.beats(default) else " **✗**"),
    ]


def _settings_table(found: list[Summary]) -> str:
    head = ["path, dataset", "files", "bytes", "advised", "expected", "probes", "failed", "seconds"]
    rows = [
        [
            _name(one),
            str(one.case.files),
            format_bytes(one.case.total_bytes),
            setting_words(one.session.setting or {}),
            format_rate(one.session.expected_bps),
            str(one.session.probes),
            str(one.session.failed),
            f"{one.session.seconds:.0f}",
        ]
        for one in found
    ]
    return _table("What was advised", head, rows)


def _sweep_table(found: list[Summary]) -> str:
    head = ["path, dataset", "cells", "cut", "best cell", "time, s", "accuracy"]
    head += ["probes of the search", "overhead"]
    rows = [
        [
            _name(one),
            str(sweep.cells),
            str(sweep.cut),
            sweep.best.replace(",", ", "),
            f"{sweep.best_s:.1f}",
            f"{sweep.accuracy:.2f}",
            str(one.session.searching),
            f"{sweep.overhead:.2f}",
        ]
        for one in found
        if (sweep := one.sweep)
    ]
    return _table("Against the sweep", head, rows) if rows else ""


def _subsystems(found: list[Summary]) -> str:
    """The composition that each session reported, a line each."""
    lines = []
    for one in found:
        if composed := one.session.composition:
            alone = ", ".join(
                f"{s.what} {format_rate(s.throughput_bps)}" for s in composed.subsystems
            )
            joint = format_rate(composed.joint_bps)
            lines.append(
                f"- {_name(one)}: {alone}; together {joint}. In words: {limit_words(composed)}."
            )
    return "## The subsystems, alone and together\n\n" + "\n".join(lines) if lines else ""


def _against(found: list[Summary], results: Results) -> str:
    lines = [
        f"- {session.case}, {session.method}: no advice: {session.ended}."
        for session in results.all(Session)
        if session.setting is None
    ]
    for one in found:
        name = _name(one)
        lines += [f"- {name}: a probe failed: {why}" for why in one.session.failures]
        if not one.lands:
            lines.append(f"- {name}: {one.in_interval} of {one.runs} runs inside the interval.")
        if one.width > USEFUL:
            lines.append(
                f"- {name}: the stated interval is too wide to be useful: its upper end is "
                f"{one.width:.3g} times its lower."
            )
        lines += [
            f"- {name}: gains less over the line {default} than the lower end of what was stated."
            for default in one.case.tool.defaults
            if not one.beats(default)
        ]
        if one.sweep and one.sweep.accuracy < 0.9:
            lines.append(
                f"- {name}: the sweep's best is {1 / one.sweep.accuracy:.2f} times as fast."
            )
        troubles = [*one.troubles, *(one.sweep.troubles if one.sweep else [])]
        lines += [f"- {name}: {trouble}." for trouble in troubles]
    return "## Where the advice failed\n\n" + ("\n".join(lines) or "- Nothing.")


def _machine(results: Results) -> str:
    machines, late = results.all(Machine), results.all(Late)
    if not machines:
        return ""
    last = machines[-1]
    versions = ", ".join(f"{name} {version}" for name, version in last.versions.items())
    minutes = sum(timed.seconds for timed in results.all(Timed)) / 60
    text = (
        f"{last.when}, `{last.command}`, {minutes:.0f} minutes in all. {last.processor}, "
        f"{last.cores} cores, {format_bytes(last.memory_bytes)}; Linux {last.kernel}, its "
        f"congestion control {last.hosts_congestion}; {versions}; load before the start "
        f"{last.load_1min:.1f}."
    )
    if late:
        p99_ms = median(one.p99_s for one in late) * 1000
        worst_ms = max(one.p99_s for one in late) * 1000
        text += (
            f" The emulator delivered 99 % of the packets within {p99_ms:.1f} ms of their time in "
            f"the median case, {worst_ms:.1f} ms in the worst."
        )
    return f"## The machine\n\n{text}"
