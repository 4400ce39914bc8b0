"""`advisor` alone: the terminal interface, or the plain report where it cannot be shown."""

import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from advisor.cli import configuration

if TYPE_CHECKING:
    from advisor.domain.events import AnyEvent
    from advisor.store.history import Store


def is_possible() -> bool:
    """Whether this terminal can show it."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def open_interface(screen: str) -> int:
    """Show it, beginning with this screen; the exit code."""
    return _shown(screen)


def open_recording(events: "Sequence[AnyEvent]") -> int:
    """Show it, beginning with this recorded session; the exit code."""
    from advisor.tui.screens.demo import DemoScreen

    return _shown(DemoScreen(events))


def _shown(first: Any) -> int:
    # Nothing is thrown away before the first screen is there; collecting takes time until then.
    gc.disable()
    from advisor.tui.app import AdvisorApp
    from advisor.tui.draft import load_draft

    looks, keys = checked_settings()
    app = AdvisorApp(
        configured_store(),
        load_draft(),
        drawing=looks["drawing"],
        theme=looks["theme"],
        keys=keys,
        first=first,
    )
    status = app.run()
    return app.return_code or status or 0


def checked_settings() -> tuple[dict[str, str], dict[str, str]]:
    """What the configuration says of the screens, and of keys. Raises BadConfiguration."""
    screen, keys = configuration.of_the_screen(), configuration.keys()
    if screen != configuration.SCREEN or keys:  # Checking loads every screen.
        from advisor.tui.settings import BadSetting, check

        try:
            check(screen["theme"], keys)
        except BadSetting as error:
            raise configuration.BadConfiguration(f"{configuration.path()}: {error}") from None
    return screen, keys


def configured_store() -> "Store":
    """The history that the configuration names, else the user's own."""
    from advisor.store.history import Store
    from advisor.store.layout import shipped_profiles

    named: str = configuration.load().get("store", "")
    references = shipped_profiles()
    return Store(Path(named), references) if named else Store.default(references)


def plain_report() -> None:
    """The known pairs with their best results, and what to do next."""
    from advisor.cli.history import history

    history.main([], standalone_mode=False, default_map=configuration.default_map().get("history"))
    click.echo(
        "\nNew advice: advisor advise [USER@]HOST. An interrupted session: advisor resume."
        "\nA session again: advisor history replay PAIR. All commands: advisor --help."
    )
