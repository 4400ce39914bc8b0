"""`advisor` alone: the terminal interface, or the plain report where it cannot be shown."""

import os
import sys
from pathlib import Path

import click

from advisor.cli import configuration
from advisor.cli.options import opened_store
from advisor.store.history import Store


def is_possible() -> bool:
    """Whether this terminal can show it."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def open_interface() -> int:
    """Show it; the exit code."""
    from advisor.tui.app import AdvisorApp
    from advisor.tui.draft import load_draft

    screen = configuration.of_the_screen()
    app = AdvisorApp(
        configured_store(),
        load_draft(),
        drawing=screen["drawing"],
        theme=screen["theme"],
        keys=configuration.keys(),
    )
    status = app.run()
    return app.return_code or status or 0


def configured_store() -> Store:
    """The history that the configuration names, else the user's own."""
    named: str = configuration.load().get("store", "")
    return opened_store(Path(named) if named else None)


def plain_report() -> None:
    """The known pairs with their best results, and what to do next."""
    from advisor.cli.history import history

    history.main([], standalone_mode=False, default_map=configuration.default_map().get("history"))
    click.echo(
        "\nNew advice: advisor advise [USER@]HOST. An interrupted session: advisor resume."
        "\nA session again: advisor history replay PAIR. All commands: advisor --help."
    )
