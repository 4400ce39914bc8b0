"""Tables in Markdown."""

from collections.abc import Iterable, Sequence


def table_text(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A head and rows of as many cells."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
