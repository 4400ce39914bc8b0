"""Markdown of the generated pages."""

from collections.abc import Iterable, Sequence

MADE_BY = "<!-- Made by `python -m tests.manual`: do not edit. -->"


def page(title: str, about: str, parts: Iterable[str]) -> str:
    """A page with its title, what it is for, and its parts."""
    return "\n\n".join([f"# {title}", MADE_BY, about, *parts]) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells are Markdown in which a bar is no border."""
    lines = [list(head), ["---"] * len(head), *map(list, rows)]
    return "\n".join(
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines
    )


def plain(text: str) -> str:
    """A text of the program on one line: what Markdown would take for HTML is escaped."""
    return " ".join(text.split()).replace("<", "&lt;").replace("*", r"\*")


def code(text: str) -> str:
    """As code, also where it contains a backtick; nothing for nothing."""
    if not text:
        return ""
    return f"`` {text} ``" if "`" in text else f"`{text}`"
