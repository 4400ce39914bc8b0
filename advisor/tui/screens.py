"""One file per screen, imported when it is first shown: starting must not wait for all of them."""

import importlib
from typing import Final

from advisor.tui.page import Page

_SCREENS: Final = {
    "home": "home:HomeScreen",
    "where": "features.advising.screens.where:WhereScreen",
    "what": "features.advising.screens.what:WhatScreen",
    "path": "features.advising.screens.path:PathScreen",
    "history": "features.advising.screens.history:HistoryScreen",
    "profiling": "features.advising.screens.profiling:ProfilingScreen",
    "comparison": "features.advising.screens.comparison:ComparisonScreen",
    "advice": "features.advising.screens.advice:AdviceScreen",
    "review": "features.history.screens.review:ReviewScreen",
    "lab": "features.lab.screen:LabScreen",
    "move": "features.transfer.screens.form:TransferFormScreen",
    "moving": "features.transfer.screens.live:TransferLiveScreen",
    "shares": "features.shares.screens.shares:SharesScreen",
    "shares_run": "features.shares.screens.form:SharesFormScreen",
}


def screen_named(name: str) -> Page:
    """A new screen. Raises KeyError for a name that is not there."""
    return _class_of(name)()


def all_pages() -> list[type[Page]]:
    """All classes of screens."""
    return [_class_of(name) for name in _SCREENS]


def _class_of(name: str) -> type[Page]:
    module, _, class_name = _SCREENS[name].partition(":")
    page: type[Page] = getattr(importlib.import_module(f"advisor.tui.{module}"), class_name)
    return page
