"""Checks what the configuration says of the screens: themes, and names of key bindings."""

import difflib
from collections.abc import Iterable, Iterator, Mapping

from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode

from advisor.domain.problem import ProblemError, ProblemKind
from advisor.tui.app import AdvisorApp
from advisor.tui.screens import SCREENS, screen_class


class BadSetting(ProblemError, ValueError):
    """The message names the entry and the nearest right one."""

    kind = ProblemKind.INVALID


def check(theme: str, keys: Mapping[str, str]) -> None:
    """Raises BadSetting for an unknown theme or key binding."""
    _check_word("[screen] theme", theme, App().available_themes)
    names = key_names()
    for name in keys:
        _check_word("[keys]", name, names)


def key_names() -> dict[str, str]:
    """Every key binding that the configuration may change: its name, and what it does."""
    found: dict[str, str] = {}
    for binding in _bindings():
        if binding.id:
            found.setdefault(binding.id, binding.description)
    return found


def _bindings() -> Iterator[Binding]:
    nodes: list[type[DOMNode]] = [AdvisorApp, *map(screen_class, SCREENS)]
    for node in nodes:
        for parent in node.__mro__:
            for binding in getattr(parent, "BINDINGS", ()):
                if isinstance(binding, Binding):
                    yield binding


def _check_word(where: str, word: str, known: Iterable[str]) -> None:
    known = list(known)
    if word in known:
        return
    near = difflib.get_close_matches(word, known, 1)
    remedy = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(known)}"
    raise BadSetting(f"{where} has no '{word}': {remedy}")
