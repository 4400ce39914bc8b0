"""Tables for terminals and pipes."""

import sys
from itertools import chain

from advisor.domain.printable import printable
from advisor.report.output import rich_console


def print_table(columns: tuple[str, ...], rows: list[list[str]]) -> None:
    """Print a table: drawn on a terminal, plain columns in a pipe."""
    rows = [[printable(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        from rich.table import Column, Table
        from rich.text import Text

        table = Table(*(Column(name, overflow="fold") for name in columns))
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        rich_console(sys.stdout).print(table)
        return
    widths = [max(len(cell) for cell in column) for column in zip(columns, *rows, strict=True)]
    for line in chain([columns], rows):
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        sys.stdout.write(f"{'  '.join(padded).rstrip()}\n")
