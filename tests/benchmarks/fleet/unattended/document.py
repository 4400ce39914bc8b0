"""The table of docs/benchmarks-fleet.md, from the results alone."""

from pathlib import Path

from advisor.domain.quantities import format_bytes, format_duration
from tests.benchmarks.fleet.unattended.results import Results, UnattendedRun
from tests.benchmarks.markdown import filled, put_between, table_text
from tests.benchmarks.wan.hosts import Trouble
from tests.benchmarks.wan.results import Machine

BEGIN = "<!-- made by python -m tests.benchmarks.fleet.unattended --document -->"
END = "<!-- end -->"


def write_document(results: Results, page: Path) -> None:
    """Put the tables between the page's marks. Raises Trouble where there are none."""
    put_between(page, BEGIN, END, tables(results))


def tables(results: Results) -> str:
    """All of them, as Markdown."""
    runs = results.all(UnattendedRun)
    if not runs:
        raise Trouble(f"{results.file} has no run")
    newest = runs[-1]
    parts = [_runs(runs), _happened(newest), _failures(newest), _named(newest), _machine(results)]
    return "\n\n".join(part for part in parts if part)


def _runs(runs: list[UnattendedRun]) -> str:
    head = ["run", "lasted", "commit", "hosts, workers", "outcome", "measurements done"]
    head += ["records acknowledged", "of them on the worker's host first", "lost"]
    head += ["probes", "two at one host", "pairs covered"]
    rows = [
        [
            one.when,
            format_duration(one.duration_s),
            one.commit,
            f"{one.hosts}, {one.workers}",
            "passed" if one.passed else "**failed**",
            f"{one.found.attempts.get('done', 0)} of {sum(one.found.attempts.values())}",
            f"{one.found.acknowledged:,}",
            f"{one.found.spooled:,}",
            str(one.found.lost + one.found.waiting),
            f"{one.found.probes:,}",
            str(one.found.probes_at_once + one.found.attempts_at_once),
            f"{one.found.covered} of {one.found.pairs}",
        ]
        for one in runs
    ]
    number = f"{len(runs)} run{'s' * (len(runs) > 1)}"
    return f"## The runs\n\n{number}.\n\n" + table_text(head, rows)


def _happened(run: UnattendedRun) -> str:
    rows = [[what, str(number)] for what, number in sorted(run.troubles.items())]
    ended = [[f"measurements {how}", str(n)] for how, n in sorted(run.found.attempts.items())]
    return "## What happened in the last one\n\n" + table_text(["", "times"], [*rows, *ended])


def _failures(run: UnattendedRun) -> str:
    rows = [[what.replace("|", "/"), str(number)] for what, number in run.found.failures.items()]
    return "## Why measurements failed\n\n" + table_text(["", "times"], rows) if rows else ""


def _named(run: UnattendedRun) -> str:
    rows = [[pair, reason or "**no reason**"] for pair, reason in run.found.named.items()]
    return "## Pairs that were not measured\n\n" + table_text(["pair", ""], rows) if rows else ""


def _machine(results: Results) -> str:
    machine, run = results.all(Machine)[-1], results.all(UnattendedRun)[-1]
    where = (
        f"{machine.processor}, {machine.cores} cores, {format_bytes(machine.memory_bytes)};"
        f" Linux {machine.kernel}. Other programs ran at the same time, and the bench at the lowest"
        f" priority: on average {run.load_1min:.1f} processes wanted a core."
    )
    return "## Where\n\n" + filled(where) + f"\n\n    {machine.command}"
