"""The tables of docs/benchmarks-bare.md, from the results alone."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from advisor.domain.quantities import format_bytes, format_duration
from tests.benchmarks.bare.cases import ACCOUNTS, COMMANDS, SYSTEMS, Case, cases
from tests.benchmarks.bare.results import Cell, Results, Step
from tests.benchmarks.markdown import filled, put_between, table_text
from tests.benchmarks.wan.hosts import Trouble
from tests.benchmarks.wan.results import Machine

BEGIN = "<!-- made by python -m tests.benchmarks.bare --document -->"
END = "<!-- end -->"


def write_document(results: Results, page: Path) -> None:
    """Put the tables between the page's marks. Raises Trouble where there are none."""
    put_between(page, BEGIN, END, tables(results))


def tables(results: Results) -> str:
    """All of them, as Markdown."""
    found = [(case, runs) for case in _every() if (runs := results.runs(case))]
    if not found:
        raise Trouble(f"{results.file} has no run")
    parts = [_runs(found), _lines(found), _failures(found), _machine(results)]
    return "\n\n".join(part for part in parts if part)


def _outcome(runs: list[Cell]) -> str:
    passed = sum(cell.passed for cell in runs)
    if len(runs) == 1:
        return "passed" if passed else "**failed**"
    return (
        f"{passed} of {len(runs)} passed"
        if passed == len(runs)
        else f"**{passed} of {len(runs)}** passed"
    )


def _runs(found: list[tuple[Case, list[Cell]]]) -> str:
    head = [
        "system",
        "Python",
        "account",
        "command",
        "runs",
        "outcome",
        "tests",
        "it took",
        "packages before",
    ]
    rows = [
        [
            SYSTEMS[case.system],
            runs[-1].python,
            ACCOUNTS[case.account],
            f"`make {case.command}`",
            str(len(runs)),
            _outcome(runs),
            runs[-1].tests or "–",
            format_duration(median(cell.seconds for cell in runs)),
            _packages(runs),
        ]
        for case, runs in found
    ]
    note = (
        "`it took`: the time of the command including the whole set-up, median of the runs. As"
        " root it installs the packages itself. `packages before`: the time of the line for root"
        " that an ordinary user is given. `tests`: of the last run."
    )
    return "## The two commands\n\n" + table_text(head, rows) + "\n\n" + filled(note)


def _packages(runs: list[Cell]) -> str:
    taken_s = [step.seconds for cell in runs for step in _asked(cell)]
    return format_duration(median(taken_s)) if taken_s else "–"


def _asked(cell: Cell) -> list[Step]:
    """The steps that root ran for an ordinary user."""
    accounts = {step.account for step in cell.steps}
    return [step for step in cell.steps if step.account == "root"] if len(accounts) > 1 else []


def _lines(found: list[tuple[Case, list[Cell]]]) -> str:
    """The line for root that an ordinary user is given, with the cases that share it."""
    cases: dict[str, list[str]] = {}
    for case, runs in found:
        for step in _asked(runs[-1]):
            cases.setdefault(step.line, []).append(case.title)
    if not cases:
        return ""
    parts = [f"{filled('; '.join(titles))}:\n\n    {line}" for line, titles in cases.items()]
    return "## The line for root\n\n" + "\n\n".join(parts)


def _failures(found: list[tuple[Case, list[Cell]]]) -> str:
    parts = []
    for case, runs in found:
        for cell in runs:
            if not cell.passed:
                said = "\n".join(f"    {line}" for line in cell.failures)
                parts.append(f"{case.title}, {cell.when}:\n\n{said}")
    return "## What failed\n\n" + "\n\n".join(parts) if parts else ""


def _machine(results: Results) -> str:
    machine = results.all(Machine)[-1]
    newest = results.all(Cell)[-1]
    where = (
        f"{machine.processor}, {machine.cores} cores, {format_bytes(machine.memory_bytes)};"
        f" Linux {machine.kernel}, ping_group_range {newest.ping_groups}; commit {newest.commit},"
        f" {newest.when}."
    )
    others = {cell.commit for case in _every() for cell in results.runs(case)} - {newest.commit}
    if others:
        where += f" Some cells are of earlier commits: {', '.join(sorted(others))}."
    return "## Where\n\n" + filled(where) + f"\n\n    {machine.command}"


def _every() -> list[Case]:
    return cases(list(SYSTEMS), list(ACCOUNTS), list(COMMANDS))
