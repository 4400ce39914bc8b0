"""The figures of a simulated fleet as text, and its progress on a terminal."""

import contextlib
import sys
from collections.abc import Callable, Iterator

from advisor.domain.quantities import format_duration
from advisor.fleet.simulation.report import Notices, Progress, SimulationReport
from advisor.fleet.simulation.several import SimulationSummary
from advisor.report.fleet import bytes_words
from advisor.report.output import say, transient_bar
from advisor.report.tables import print_table


def print_simulation(found: SimulationReport) -> None:
    """Print all figures."""
    print_table(("", ""), [[name, value] for name, value in _rows(found)])
    if found.changes:
        say()
        print_table(
            ("change", "happened", "noticed", "after, median", "90 % within"),
            [_notice_cells(kind, one) for kind, one in found.changes.items()],
        )


def _rows(found: SimulationReport) -> Iterator[tuple[str, str]]:
    yield "hosts, pairs, workers", f"{found.hosts:,}, {found.pairs:,}, {found.workers:,}"
    yield "simulated", format_duration(found.simulated_s)
    yield "measurements, failures", f"{found.measurements:,}, {found.failures:,}"
    for part, at_s in found.cover_s.items():
        yield f"{part} of the pairs measured after", _time(at_s)
    yield "workers idle", _share(found.idle_share)
    yield "after all were measured", _share(found.idle_share_after_cover)
    yield "Jain's index of pairs, hosts", f"{found.jain_pairs:.3f}, {found.jain_hosts:.3f}"
    ages = f"{_time(found.median_age_s)}, {_time(found.oldest_age_s)}"
    yield "age at the end, median and oldest", ages
    if traffic := found.traffic:
        for name, size, share in (
            ("median", traffic.median_bytes, traffic.median_share),
            ("most", traffic.most_bytes, traffic.most_share),
        ):
            yield (
                f"traffic per host and day, {name}",
                f"{bytes_words(size)}, {share:.1%} of the bound",
            )
    alarms = f"{found.false_alarms:,}, {found.false_alarms_per_pair_year:.3f} per pair and year"
    yield "changes called where there was none", alarms


def print_summary(found: SimulationSummary) -> None:
    """Print each figure over all runs."""
    seeds = found.seeds
    named = str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    say(f"{len(seeds)} runs, seeds {named}")
    print_table(
        ("figure", "least", "median", "most", "runs"),
        [
            [name, *(_figure(name, n) for n in (one.least, one.median, one.most)), str(one.runs)]
            for name, one in found.figures.items()
        ],
    )


def _figure(name: str, value: float) -> str:
    if name.startswith("cover_s.") or name.endswith("_s"):
        return format_duration(value)
    if name.endswith("_bytes"):
        return bytes_words(value)
    if "share" in name:
        return f"{value:.1%}"
    return f"{value:.3f}" if value % 1 else f"{value:,.0f}"


def _notice_cells(kind: str, one: Notices) -> list[str]:
    return [kind, str(one.happened), str(one.noticed), _time(one.median_s), _time(one.p90_s)]


def _time(time_s: float | None) -> str:
    return "not reached" if time_s is None else format_duration(time_s)


def _share(share: float | None) -> str:
    return "not reached" if share is None else f"{share:.1%}"


@contextlib.contextmanager
def progress(wanted: bool) -> Iterator[Callable[[Progress], None]]:
    """Progress callbacks; a bar on standard error if that is a terminal."""
    if not wanted or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    with transient_bar(
        sys.stderr,
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=16),
        TimeRemainingColumn(compact=True),
    ) as bar:
        task = bar.add_task("", total=None)

        def show(one: Progress) -> None:
            words = f"day {one.days} of {one.of_days}, {one.covered / one.pairs:.0%} of pairs"
            bar.update(task, description=words, completed=one.days, total=one.of_days)

        yield show


@contextlib.contextmanager
def runs_progress(runs: int, wanted: bool) -> Iterator[Callable[[], None]]:
    """What is called after each of the runs; a bar on standard error if that is a terminal."""
    if not wanted or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn

    with transient_bar(
        sys.stderr, BarColumn(bar_width=16), MofNCompleteColumn(), TimeRemainingColumn(compact=True)
    ) as bar:
        task = bar.add_task("", total=runs)
        yield lambda: bar.advance(task)
