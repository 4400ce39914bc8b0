"""`advisor help`: opens a page of the manual."""

import difflib
from pathlib import Path
from typing import Annotated, Final

import typer

from advisor.cli import interface
from advisor.cli.commands import command
from advisor.cli.errors import CommandFailed, UsageError
from advisor.cli.manual.pages import INDEX, pages, topic_of
from advisor.report.output import say

_MOST_NEAR: Final = 3


def topics(incomplete: str) -> list[str]:
    """The topics that begin so."""
    return [topic for topic in pages() if topic.startswith(incomplete)]


@command("help")
def open_page(
    topic: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TOPIC",
            autocompletion=topics,
            help="A page of the manual, or a command.",
            show_default="the list of topics",
        ),
    ] = None,
    *,
    plain: Annotated[bool, typer.Option("--plain", help="As text, also on a terminal.")] = False,
) -> int:
    """Open the page of the manual on TOPIC. Without TOPIC it lists all pages.

    On a terminal: Enter follows a link, b goes back, t shows the contents of the page, q leaves.
    Elsewhere it is printed as text. The manual is part of the program, so it needs no network.
    """
    page = _page(topic or [])
    if not plain and interface.is_possible():
        return interface.open_manual(page)
    say(page.read_text(encoding="utf-8").rstrip("\n"))
    return 0


def _page(words: list[str]) -> Path:
    """The page on a topic, or of a command. Raises UsageError, CommandFailed."""
    known = pages()
    if not known:
        raise CommandFailed("the manual is missing", remedy="install advisor again")
    wanted = words[0] if words else INDEX
    found = known.get(wanted) or known.get(topic_of([wanted]))
    if found is None:
        near = difflib.get_close_matches(wanted, known, _MOST_NEAR, cutoff=0.5)
        raise UsageError(
            f"TOPIC: there is no page on '{wanted}'",
            remedy=f"did you mean {' or '.join(near)}?" if near else "'advisor help' lists all",
            command="advisor help",
        )
    return found


help = open_page  # noqa: A001 -- the command is found by its name
