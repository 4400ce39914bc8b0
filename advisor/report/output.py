"""The one way of text to standard output and standard error, where data can be part of it."""

import sys
from typing import Any, TextIO

from advisor.domain.printable import json_text, printable_lines


def say(text: str = "", *, err: bool = False) -> None:
    """Write lines to standard output, or to standard error; control characters as escapes."""
    stream = sys.stderr if err else sys.stdout
    stream.write(printable_lines(text) + "\n")
    stream.flush()


def say_json(data: bytes) -> None:
    """Write a JSON text to standard output; characters that cannot be seen as JSON's escapes."""
    say(json_text(data))


class PrintableStream:
    """A stream for writers of text: what they write is made printable on its way."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text; returns its length as given."""
        self._stream.write(printable_lines(text))
        return len(text)


def rich_console(stream: TextIO) -> Any:
    """rich's console on a stream: it finds no markup, emoji or highlights in what is printed."""
    from rich.console import Console

    return Console(file=stream, highlight=False, markup=False, emoji=False)


def transient_bar(stream: TextIO, *columns: Any) -> Any:
    """rich's bars with these columns, as for `rich.progress.Progress`; gone when they end.

    What others print is not redirected: standard output is data.
    """
    from rich.progress import Progress

    return Progress(
        *columns,
        console=rich_console(stream),
        transient=True,
        refresh_per_second=4,
        redirect_stdout=False,
        redirect_stderr=False,
    )
