"""What TABLE may be for `advisor backtest`, and the tables that are in it."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from advisor.backtest.from_history import history_tables
from advisor.backtest.from_transfers import tables_of
from advisor.backtest.recorded import RecordedTable
from advisor.backtest.synthetic import synthetic_pairs, synthetic_tables
from advisor.cli.completion import history_to_complete
from advisor.cli.errors import UsageError
from advisor.cli.history.lookup import resolve_pair
from advisor.domain.endpoints import Pair
from advisor.domain.records import ProbeRecord
from advisor.report.counting import counted
from advisor.store.history import Store
from advisor.store.remarks import counting
from advisor.store.transfer_tables import read_transfer_table

_SYNTHETIC: Final = "synthetic"
_PAIRS: Final = "synthetic:"
_MOST_PAIRS: Final = 100_000
_HISTORY: Final = "history"
_OF_DESTINATION: Final = "history:"
GIVEN: Final = (
    "a CSV file of transfers, a folder of them, history, history:DESTINATION, synthetic "
    "or synthetic:PAIRS"
)
"""What may stand for TABLE."""


class TableSource(msgspec.Struct, kw_only=True):
    """What one TABLE, or one file of a folder, gave.

    `rows`: transfers or probes, 0 of what is made up.
    `repaired`, `left_out`: how many, by what was wrong.
    """

    source: str
    rows: int = 0
    repaired: dict[str, int] = {}
    left_out: dict[str, int] = {}
    notes: Sequence[str] = ()
    tables: Sequence[RecordedTable] = ()


def complete_table(incomplete: str) -> list[str]:
    """Words that stand for tables, and destinations of the history.

    Where it knows none, the shell completes names of files.
    """
    words = [_HISTORY, _SYNTHETIC]
    if incomplete.startswith(_OF_DESTINATION):
        pairs = (summary.pair for summary in history_to_complete().pairs())
        words = [f"{_OF_DESTINATION}{d}" for d in dict.fromkeys(p.destination for p in pairs)]
    return [word for word in words if word.startswith(incomplete)]


def read_tables(given: Sequence[str], store: Store) -> list[TableSource]:
    """What is in each TABLE; what several name counts once. Raises StoreError."""
    files: dict[Path, Path] = {}
    pairs: list[Pair] = []
    made_up = 0
    for one in given:
        if one == _HISTORY:
            pairs += [summary.pair for summary in store.pairs()]
        elif one.startswith(_OF_DESTINATION):
            pairs.append(resolve_pair(store, one.removeprefix(_OF_DESTINATION)))
        elif one.startswith(_PAIRS):
            made_up = max(made_up, _number(one.removeprefix(_PAIRS)))
        elif one != _SYNTHETIC:
            files |= {file.resolve(): file for file in _files(Path(one))}
    sources = [_file(file) for file in files.values()]
    if any(one == _HISTORY or one.startswith(_OF_DESTINATION) for one in given):
        sources.append(_history(dict.fromkeys(pairs), store))
    if _SYNTHETIC in given:
        sources.append(TableSource(source=_SYNTHETIC, tables=synthetic_tables()))
    if made_up:
        sources.append(TableSource(source=_SYNTHETIC, tables=synthetic_pairs(made_up)))
    return sources


def _number(text: str) -> int:
    if (
        not text.isascii()
        or not text.isdigit()
        or len(text) > 9
        or not 1 <= int(text) <= _MOST_PAIRS
    ):
        raise UsageError(
            f"TABLE: '{_PAIRS}{text}' is no number of pairs", remedy=f"give 1 to {_MOST_PAIRS:,}"
        )
    return int(text)


def _history(pairs: Iterable[Pair], store: Store) -> TableSource:
    probes = [
        record
        for pair in pairs
        for record in counting(store.records(pair))
        if isinstance(record, ProbeRecord)
    ]
    return TableSource(source=_HISTORY, rows=len(probes), tables=history_tables(probes))


def _files(path: Path) -> list[Path]:
    """The file, or those of the folder; at least one."""
    try:
        files = sorted(path.glob("*.csv")) if path.is_dir() else [path]
        found = path.exists()
    except OSError:  # a name that is too long, a folder that may not be entered
        found = False
    if not found:
        raise UsageError(f"TABLE: there is no '{path}'", remedy=f"give {GIVEN}")
    if not files:
        raise UsageError(f"TABLE: there is no *.csv in '{path}'", remedy=f"give {GIVEN}")
    return files


def _file(file: Path) -> TableSource:
    try:
        transfers = read_transfer_table(file)
    except ValueError as error:
        raise UsageError.about("TABLE", error) from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(
            f"TABLE: '{file}' cannot be read: {reason}", remedy="mend that or name another file"
        ) from None
    tables, notes = tables_of(file.stem, transfers)
    return TableSource(
        source=file.stem,
        rows=len(transfers.rows),
        repaired=transfers.repaired,
        left_out=transfers.left_out,
        notes=notes,
        tables=tables,
    )


def lines_on(source: TableSource) -> Iterator[str]:
    """What was read, and what had to be done to it."""
    line = f"{source.source}: {counted(len(source.tables), 'table')}"
    if source.rows:
        line += f" of {counted(source.rows, 'transfer')}"
    for done, counts in (("repaired", source.repaired), ("left out", source.left_out)):
        if counts:
            line += f"; {done}: {', '.join(f'{count} {what}' for what, count in counts.items())}"
    yield line
    yield from source.notes
