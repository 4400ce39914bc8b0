"""`advisor share models`: the measurements and models of each destination."""

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec
import typer

from advisor.cli import parameters as p
from advisor.cli.commands import command
from advisor.cli.history.lookup import store_errors
from advisor.cli.options import ResultAsJson, StoreOption
from advisor.cli.share.learnt import learnt_of, print_learnt
from advisor.cli.share.requests import (
    DESTINATIONS,
    MODELS,
    MeasuredToolOption,
    ModelOptions,
    StreamsOption,
    modelling_of,
)
from advisor.domain.endpoints import Endpoint
from advisor.models.shares.features import Form, Load
from advisor.models.shares.forecast import DEFAULT, Modelling
from advisor.report.output import say, say_json
from advisor.report.share_models import (
    Learnt,
    compared_columns,
    compared_rows,
    formula_lines,
    symbols_line,
)
from advisor.report.tables import print_table
from advisor.store.history import Store
from advisor.transfer.shared.prior_knowledge import trained_destinations
from advisor.transfer.shared.session import source_name

_ABLATION: Final = (
    (DEFAULT.form, DEFAULT.load),
    (DEFAULT.form, Load.NONE),
    (Form.DC_ONLY, Load.NONE),
    (Form.SC_ONLY, Load.NONE),
    (Form.MEAN, Load.NONE),
)
"""The ablation of the paper, section IV."""


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """Validation error of one model of one destination, as a fraction; None: too few samples."""

    destination: str
    model: Form
    load: Load
    validation_error: float | None


@command()
def models(
    options: ModelOptions,
    *,
    store: StoreOption,
    wanted: Annotated[
        list[Endpoint] | None,
        typer.Argument(
            parser=p.parsed(Endpoint.parse),
            metavar="DESTINATION…",
            help="[USER@]HOST or lab:NAME. Without any: all that were measured.",
            **DESTINATIONS,
        ),
    ] = None,
    streams: StreamsOption = None,
    tool: MeasuredToolOption = None,
    compare: Annotated[
        bool,
        typer.Option(
            "--compare",
            help="Print validation errors beside those of simpler models, down to a mean.",
            rich_help_panel=MODELS,
        ),
    ] = False,
    as_json: ResultAsJson = False,
) -> int:
    """Show what is known of each DESTINATION: how often it was measured, its model, its errors.

    \b
    advisor share models
    advisor share models kraken --model linear --load none
    advisor share models --compare

    Without DESTINATION all are shown that an experiment or a transfer with shares has measured.
    The formulas are those of table IV in Kettimuthu et al. (2014).
    """
    modelling = modelling_of(options)
    with store_errors():
        names = _names(store, wanted or [])
        if not names and not as_json:
            say("No models yet: run `advisor share train`.", err=True)
            return 0
        if compare:
            return _compare(store, names, streams, tool, as_json=as_json)
        learnt = learnt_of(store, names, streams, tool, modelling)
    if as_json:
        say_json(msgspec.json.encode(learnt))
    else:
        _print(learnt, modelling)
    return 0


def _names(store: Store, wanted: Sequence[Endpoint]) -> list[str]:
    return [one.host for one in wanted] or trained_destinations(store, source_name())


def _print(learnt: Sequence[Learnt], modelling: Modelling) -> None:
    print_learnt(learnt, modelling)
    if lines := formula_lines(learnt):
        say("\n" + "\n".join(lines))
        has_streams = any(one.model and one.model.streams for one in learnt)
        say(symbols_line(modelling.load, has_streams=has_streams))


def _compare(
    store: Store, names: Sequence[str], streams: int | None, tool: str | None, *, as_json: bool
) -> int:
    errors: dict[str, list[float | None]] = {name: [] for name in names}
    for form, load in _ABLATION:
        for one in learnt_of(store, names, streams, tool, Modelling(form, load)):
            model = one.model
            errors[one.destination].append(model.validation_error if model else None)
    if as_json:
        say_json(msgspec.json.encode(_as_list(errors)))
        return 0
    print_table(compared_columns(_ABLATION), compared_rows(errors))
    say(
        f"\nMean validation errors. A model with {DEFAULT.load} is given the load that each"
        " measurement met;\nfor a transfer that is to come it has to be estimated."
    )
    return 0


def _as_list(errors: dict[str, list[float | None]]) -> list[Compared]:
    return [
        Compared(destination=name, model=form, load=load, validation_error=error)
        for name, some in errors.items()
        for (form, load), error in zip(_ABLATION, some, strict=True)
    ]
