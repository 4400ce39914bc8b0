"""Fits the models of this host's destinations, and prints them."""

from collections.abc import Iterable, Sequence

import typer

from advisor.cli.commands import is_typed
from advisor.domain.shares import Served
from advisor.domain.shell import shell_word
from advisor.models.shares.fitting import TooFew, fit
from advisor.models.shares.forecast import DEFAULT, Modelling
from advisor.report.output import say
from advisor.report.share_models import COLUMNS, Learnt, learnt_rows, streams_words
from advisor.report.share_names import by_tool
from advisor.report.tables import print_table
from advisor.store.history import Store
from advisor.transfer.shared.prior_knowledge import PriorKnowledge, known_of
from advisor.transfer.shared.session import source_name


def learnt_of(
    store: Store,
    destinations: Sequence[str],
    streams: int | None = None,
    tool: str | None = None,
    modelling: Modelling = DEFAULT,
) -> list[Learnt]:
    """Newly fitted models of these destinations. Raises StoreError."""
    known = known_of(store, source_name(), destinations, streams, tool)
    return [_learnt(name, known, samples, modelling) for name, samples in known.samples.items()]


def _learnt(
    name: str, known: PriorKnowledge, samples: Sequence[Served], modelling: Modelling
) -> Learnt:
    try:
        model = fit(samples, modelling.form, modelling.load)
    except TooFew:
        model = None
    return Learnt(
        destination=name,
        tool=known.tool,
        parallelism=known.parallelism,
        samples=len(samples),
        streams=_range(one.parallelism for one in samples if one.parallelism),
        concurrency=_range(one.concurrency for one in samples),
        source_concurrency=_range(one.source_concurrency for one in samples),
        model=model,
    )


def _range(levels: Iterable[int]) -> tuple[int, int] | None:
    known = list(levels)
    return (min(known), max(known)) if known else None


def print_learnt(learnt: Sequence[Learnt], modelling: Modelling = DEFAULT) -> None:
    """Print a table of the models."""
    streams = f"{streams_words(learnt)} for each file"
    tool = by_tool(learnt[0].tool)
    say(f"Models: {modelling.words}, {streams}{tool}; errors are means")
    print_table(COLUMNS, learnt_rows(learnt))


def with_this_store(context: typer.Context, store: Store) -> str:
    """The --store option for a suggested command, if this one was given it."""
    typed = is_typed(context, "store")
    return f" --store {shell_word(store.argument)}" if typed else ""
