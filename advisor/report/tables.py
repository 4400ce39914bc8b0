"""Tables for terminals and pipes."""

import math
import sys
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Final

from advisor.domain.printable import printable
from advisor.report.output import rich_console

_TEXT: Final = 12
"""Texts are not folded to less than this, in columns of the terminal."""

_FRAME: Final = 3
"""What is drawn and left free for each column of a table, and one more at its end."""

_GAP: Final = "  "


def print_table(columns: tuple[str, ...], rows: list[list[str]]) -> None:
    """Print a table: drawn on a terminal, plain columns in a pipe.

    On a terminal texts are folded between words, and ids, times and names stay whole: they are to
    be copied. Where it is too narrow for that, the columns are plain, on as many lines as it takes.
    """
    rows = [[printable(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        _print_plain(columns, rows, math.inf)
        return
    from rich.cells import cell_len

    room: int = rich_console(sys.stdout).width
    widths = _widths(columns, rows, room, cell_len)
    if widths:
        _draw(columns, rows, widths)
    else:
        _print_plain(columns, rows, room)


def _widths(
    columns: Sequence[str], rows: list[list[str]], room: int, width_of: Callable[[str], int]
) -> list[int]:
    """The widths of drawn columns, the widest texts folded; none where words would be cut."""
    cells = list(zip(columns, *rows, strict=True))
    widths = [max(map(width_of, column)) for column in cells]
    words = [max((width_of(word) for cell in c for word in cell.split()), default=0) for c in cells]
    least = [max(word, min(_TEXT, width)) for word, width in zip(words, widths, strict=True)]
    room -= _FRAME * len(widths) + 1
    if sum(least) > room:
        return []
    while sum(widths) > room:
        foldable = [at for at, width in enumerate(widths) if width > least[at]]
        widths[max(foldable, key=widths.__getitem__)] -= 1
    return widths


def _draw(columns: Sequence[str], rows: list[list[str]], widths: list[int]) -> None:
    from rich.table import Column, Table
    from rich.text import Text

    named = zip(columns, widths, strict=True)
    table = Table(*(Column(name, overflow="fold", width=width) for name, width in named))
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    rich_console(sys.stdout).print(table)


def _print_plain(columns: Sequence[str], rows: list[list[str]], room: float) -> None:
    """Columns without a frame; those that are beyond `room` are indented below the others."""
    widths = [max(len(cell) for cell in column) for column in zip(columns, *rows, strict=True)]
    parts = _parts(widths, room)
    for line in chain([columns], rows):
        padded = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
        for number, part in enumerate(parts):
            text = _GAP.join(padded[part]).rstrip()
            if text or not number:
                sys.stdout.write(f"{_GAP * 2 if number else ''}{text}\n")


def _parts(widths: Sequence[int], room: float) -> list[slice]:
    """Which columns are printed on each line of a row."""
    firsts, used = [0], 0
    for at, width in enumerate(widths):
        if at and used + width > room:
            firsts.append(at)
            used = 2 * len(_GAP)
        used += width + len(_GAP)
    return [slice(*ends) for ends in zip(firsts, [*firsts[1:], len(widths)], strict=True)]
