"""The help of `advisor` itself: what there is, in boxes.

Drawn here and not by rich, which takes longer to load than everything else that this help needs.
"""

import os
import shutil
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import typer

Rows = Sequence[tuple[str, str]]

_NARROWEST: Final = 40
_PAPER: Final = 80


def overview(usage: str, text: str, panels: Iterable[tuple[str, Rows]]) -> str:
    """The usage line, the paragraphs of the text, and a box of names and texts for each panel."""
    width = max(_NARROWEST, shutil.get_terminal_size((_PAPER, 0)).columns)
    lines = ["", f" {usage}", ""]
    for paragraph in text.split("\n\n"):
        lines += [*_filled(paragraph, width - 2, " "), ""]
    for title, rows in panels:
        lines += _box(title, rows, width)
    return "\n".join([*lines, ""])


def _filled(text: str, width: int, indent: str = "") -> list[str]:
    return textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=indent)


def _box(title: str, rows: Rows, width: int) -> Iterator[str]:
    column = max(len(name) for name, _ in rows) + 2
    inside = width - 4
    yield f"╭─ {title} {'─' * (inside - len(title) - 1)}╮"
    for name, text in rows:
        for number, line in enumerate(_filled(text, max(10, inside - column)) or [""]):
            shown = name if number == 0 else ""
            padding = " " * (column - len(shown))
            rest = " " * (inside - column - len(line))
            yield f"│ {_coloured(shown)}{padding}{line}{rest} │"
    yield f"╰{'─' * (width - 2)}╯"


def _coloured(name: str) -> str:
    if not name or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return name
    return typer.style(name, fg="cyan", bold=True)
