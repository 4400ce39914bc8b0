"""One file per screen, imported when it is first shown: starting must not wait for all of them."""

import importlib
from typing import Final

from advisor.tui.step import Page

_SCREENS: Final = {
    "home": "HomeScreen",
    "where": "WhereScreen",
    "what": "WhatScreen",
    "path": "PathScreen",
    "history": "HistoryScreen",
    "profiling": "ProfilingScreen",
    "comparison": "ComparisonScreen",
    "advice": "AdviceScreen",
    "review": "ReviewScreen",
    "lab": "LabScreen",
    "move": "MoveScreen",
    "moving": "MovingScreen",
    "shares": "SharesScreen",
    "shares_run": "SharesRunScreen",
}


def screen_named(name: str) -> Page:
    """A new screen. `name` is the module's; raises KeyError for one that is not there."""
    return _class_of(name)()


def all_pages() -> list[type[Page]]:
    """All classes of screens."""
    return [_class_of(name) for name in _SCREENS]


def _class_of(name: str) -> type[Page]:
    module = importlib.import_module(f"advisor.tui.screens.{name}")
    page: type[Page] = getattr(module, _SCREENS[name])
    return page
