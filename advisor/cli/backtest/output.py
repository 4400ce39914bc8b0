"""The scores of a backtest, printed."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from advisor.backtest.running import Backtest, Finished, ranked
from advisor.cli.terminal import stdout_columns
from advisor.report.backtest import (
    METHOD_COLUMNS,
    TABLE_COLUMNS,
    caption,
    conclusion,
    extent,
    method_cells,
    scores_data,
    table_cells,
)
from advisor.report.output import say, say_json
from advisor.report.tables import print_table

_MOST_ROWS: Final = 200
"""More would hide what is printed before them."""


def print_scores(backtest: Backtest, finished: Sequence[Finished]) -> None:
    """Print the methods, the tables and the conclusion; at least one method."""
    ranking = ranked(finished)
    _print_wrapped(extent(backtest))
    print_table(METHOD_COLUMNS, [method_cells(one) for one in ranking])
    _print_wrapped(caption(backtest.tables))
    say()
    tables = backtest.tables
    shown = tables[:_MOST_ROWS]
    rows = [table_cells(table, place, finished) for place, table in enumerate(shown)]
    print_table(TABLE_COLUMNS, rows)
    if len(shown) < len(tables):
        say(f"and {len(tables) - len(shown):,} more tables")
    say()
    _print_wrapped(conclusion(ranking))


def echo_event(event: str, fields: Mapping[str, Any]) -> None:
    """Print an event as a line of JSON."""
    say_json(msgspec.json.encode({"event": event, **fields}))


def echo_scores(backtest: Backtest, finished: Sequence[Finished]) -> None:
    """The scores and the tables as one line of JSON."""
    say_json(msgspec.json.encode(scores_data(backtest, finished)))


def _print_wrapped(text: str) -> None:
    say(textwrap.fill(text, max(40, stdout_columns()), break_on_hyphens=False))
