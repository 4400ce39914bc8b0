"""Tables, paragraphs and figures in Markdown."""

import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.benchmarks.wan.hosts import Trouble


def table_text(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A head and rows of as many cells."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def filled(text: str) -> str:
    """Paragraphs, and entries of lists, with lines of one width."""
    return "\n".join(
        textwrap.fill(
            line,
            width=100,
            subsequent_indent="  " if line.startswith("- ") else "",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for line in text.splitlines()
    )


def percent(share: float | None) -> str:
    """With one digit after the point; a dash for None."""
    return "–" if share is None else f"{100 * share:.1f} %"


def put_between(page: Path, begin: str, end: str, text: str) -> None:
    """Put a text between two lines of a page. Raises Trouble where there are none."""
    before, first, rest = page.read_text().partition(begin)
    _, last, after = rest.partition(end)
    if not first or not last:
        raise Trouble(f"{page} has no lines {begin} and {end}")
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}")
