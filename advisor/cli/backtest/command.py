"""`advisor backtest`: which search method would have served these paths best?"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer

from advisor import registry
from advisor.backtest.running import Backtest, Finished, LeftOut, Searched, ranked, run
from advisor.cli import parameters as p
from advisor.cli.backtest.output import echo_event, echo_scores, print_scores
from advisor.cli.backtest.tables import (
    GIVEN,
    TableSource,
    complete_table,
    lines_on,
    read_tables,
)
from advisor.cli.commands import Options, command
from advisor.cli.computing import DaskOption, executor_at
from advisor.cli.errors import CommandFailed, UsageError
from advisor.cli.history.lookup import store_errors
from advisor.cli.options import OUTPUT, StoreOption, json_option
from advisor.methods.api import MethodPlugin
from advisor.report.backtest import left_out_sentence, progress
from advisor.report.backtest_plot import write_plot
from advisor.report.output import say
from advisor.report.plotting import CannotPlot, check_plot

_ALL: Final = "all"
_NOTHING_USABLE: Final = 1
_INTERRUPTED: Final = 130


def _complete_method(incomplete: str) -> list[str]:
    listed, comma, last = incomplete.rpartition(",")
    names = (_ALL, *(one.name for one in _listed()))
    return [f"{listed}{comma}{name}" for name in names if name.startswith(last)]


class ReplayOptions(Options, frozen=True):
    """How the tables are replayed."""

    methods: Annotated[
        list[str],
        typer.Option(
            "--method",
            metavar="NAME",
            autocompletion=_complete_method,
            help="Replay this method. Several with commas between, or repeat the option.",
        ),
    ] = msgspec.field(default_factory=lambda: [_ALL])
    seeds: Annotated[
        int, p.whole("--seeds", low=1, high=10_000, help="Searches of each method per table.")
    ] = 50
    budget: Annotated[
        int,
        p.whole(
            "--budget",
            low=1,
            high=100_000,
            help="Most probes of a search. Live tuners use all of them: "
            "they never stop by themselves.",
        ),
    ] = 48
    dask: DaskOption = None
    drift: Annotated[
        bool,
        typer.Option(
            "--drift", help="Answer with the repeats in the order of time, not at random."
        ),
    ] = False
    learn_from_others: Annotated[
        bool,
        typer.Option(
            "--learn-from-others",
            help="Give each search the results in the tables of the other sources.",
        ),
    ] = False
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Plot regret over time to a .svg, .png or .pdf file. Needs matplotlib.",
            rich_help_panel=OUTPUT,
        ),
    ] = None


@command()
def backtest(
    options: ReplayOptions,
    *,
    store: StoreOption,
    tables: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TABLE…",
            autocompletion=complete_table,
            help="A CSV file, a folder of them, history, history:DESTINATION, or synthetic.",
        ),
    ] = None,
    as_json: Annotated[bool, json_option("Print lines of JSON, the scores last.")] = False,
) -> int:
    """Replay search methods against recorded tables: which would have served these paths best?

    TABLE is a CSV file of transfers at many settings, a folder of such files, 'history' or
    'history:DESTINATION' for what advisor itself has measured, 'synthetic' for generated
    surfaces whose best setting is known, or 'synthetic:PAIRS' for as many pairs with such
    surfaces. Nothing is measured.
    """
    if not tables:
        raise UsageError("TABLE is missing", remedy=f"give {GIVEN}")
    if options.plot:
        _check_plot(options.plot)
    plugins = _plugins(options.methods)
    try:
        with store_errors():
            sources = read_tables(tables, store)
    except KeyboardInterrupt:
        say("advisor: interrupted before anything was replayed", err=True)
        return _INTERRUPTED
    return _replayed(sources, plugins, options, as_json)


def _check_plot(path: Path) -> None:
    """Before anything is run."""
    try:
        check_plot(path)
    except CannotPlot as error:
        raise UsageError.about("--plot", error) from None


def _listed() -> list[registry.Listed]:
    return [one for one in registry.listing() if one.kind == "methods"]


def _plugins(given: Sequence[str]) -> list[MethodPlugin]:
    """The methods that were named, each once."""
    names = [name.strip() for part in given for name in part.split(",")]
    if _ALL in names:
        names += [one.name for one in _listed() if one.availability.ok]
    return [_plugin(name) for name in dict.fromkeys(names) if name != _ALL]


def _plugin(name: str) -> MethodPlugin:
    try:
        return registry.usable_method(name)
    except registry.PluginMissing as error:
        raise UsageError(f"--method: {error}, or {_ALL}") from None


def _replayed(
    sources: Sequence[TableSource],
    plugins: Sequence[MethodPlugin],
    options: ReplayOptions,
    as_json: bool,
) -> int:
    plot = options.plot
    _tell_sources(sources, as_json)
    settings = Backtest(
        methods=plugins,
        tables=[table for source in sources for table in source.tables],
        seeds=options.seeds,
        budget=options.budget,
        in_order=options.drift,
        learn_from_others=options.learn_from_others,
        with_regret=plot is not None,
    )
    if not settings.tables:
        say("advisor: nothing to replay against: no table has enough settings", err=True)
        return _NOTHING_USABLE
    finished, interrupted = _searched(settings, options.dask, as_json)
    if as_json:
        echo_scores(settings, finished)
    elif finished:
        print_scores(settings, finished)
    if interrupted:
        return _INTERRUPTED
    if not finished:
        say("advisor: no method got through: there are no scores", err=True)
        return _NOTHING_USABLE
    if plot:
        try:
            write_plot(plot, ranked(finished))
        except CannotPlot as error:
            raise CommandFailed.about("--plot", error) from error
    return 0


def _searched(settings: Backtest, dask: str | None, as_json: bool) -> tuple[list[Finished], bool]:
    """The methods that were finished, and whether it was interrupted."""
    finished: list[Finished] = []
    left_out: list[LeftOut] = []
    interrupted = False
    try:
        with executor_at(dask) as executor, progress(wanted=not as_json) as show:
            for event in run(settings, executor):
                match event:
                    case Searched():
                        show(event)
                        if as_json and event.done % settings.seeds == 0:
                            echo_event("progress", event._asdict())
                    case Finished():
                        finished.append(event)
                    case LeftOut():
                        left_out.append(event)
    except KeyboardInterrupt:
        interrupted = True
    # After the bar, which would be torn by lines between.
    for one in left_out:
        if as_json:
            echo_event("left_out", one._asdict())
        say(f"advisor: {left_out_sentence(one)}", err=True)
    if interrupted:
        of = len(settings.methods)
        say(f"advisor: interrupted: {len(finished)} of {of} methods were finished", err=True)
    return finished, interrupted


def _tell_sources(sources: Sequence[TableSource], as_json: bool) -> None:
    """What was read, and what had to be done to it."""
    if as_json:
        echo_event(
            "tables_read",
            {"sources": [msgspec.structs.asdict(s) | {"tables": len(s.tables)} for s in sources]},
        )
    for source in sources:
        for line in lines_on(source):
            say(line, err=True)
