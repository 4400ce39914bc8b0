"""The registry of screens: what Home, the palette and `--open` offer, and where each is found.

Nothing of Textual is imported here, and a screen's module only when it is first shown: starting
must not wait for all of them.
"""

import importlib
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

if TYPE_CHECKING:
    from textual.screen import Screen


FirstScreen = Literal[
    "home",
    "where",
    "what",
    "path",
    "history",
    "review",
    "profiles",
    "rtt",
    "lab",
    "shares",
    "move",
    "fleet",
]
"""The screens that the program can begin with: what `--open` takes."""


class HomeKey(NamedTuple):
    """How Home offers a screen: by `key`, which runs `action`; `id` names it in the configuration.

    `button`: its words on Home, "" where it is not shown there.
    """

    key: str
    id: str
    action: str
    label: str
    button: str = ""
    tooltip: str = ""
    in_footer: bool = False


class ScreenEntry(NamedTuple):
    """One screen: `target` is its module below `advisor.tui`, and its class.

    `step`: its word among the steps to advice, "" where it is none of them. `title` and `about`:
    how the palette offers it, "" where other screens alone lead to it.
    """

    target: str
    step: str = ""
    title: str = ""
    about: str = ""
    home: HomeKey | None = None


_STEPS: Final = "features.advising.screens"
SCREENS: Final = {
    "home": ScreenEntry("home:HomeScreen"),
    "where": ScreenEntry(
        f"{_STEPS}.where:WhereScreen",
        step="Where",
        about="advice on a transfer",
        home=HomeKey(
            "n",
            "new-advice",
            "new_advice",
            "New advice",
            button="Get advice",
            in_footer=True,
        ),
    ),
    "what": ScreenEntry(f"{_STEPS}.what:WhatScreen", step="What"),
    "path": ScreenEntry(f"{_STEPS}.path:PathScreen", step="Path"),
    "history": ScreenEntry(f"{_STEPS}.history:HistoryScreen", step="History"),
    "profiling": ScreenEntry(
        f"{_STEPS}.profiling:ProfilingScreen",
        step="Profile",
        home=HomeKey("s", "session", "session", "Running session"),
    ),
    "comparison": ScreenEntry(f"{_STEPS}.comparison:ComparisonScreen", step="Compare"),
    "advice": ScreenEntry(f"{_STEPS}.advice:AdviceScreen", step="Advice"),
    "move": ScreenEntry(
        "features.transfer.screens.form:TransferFormScreen",
        title="Move files now",
        about="move files now, with a transfer that tunes itself while it runs",
        home=HomeKey(
            "m",
            "move-files",
            "move",
            "Move now",
            button="Move files",
            tooltip="Move files now",
            in_footer=True,
        ),
    ),
    "moving": ScreenEntry(
        "features.transfer.screens.live:TransferLiveScreen",
        home=HomeKey("f", "moving", "moving", "Files being moved"),
    ),
    "shares": ScreenEntry(
        "features.shares.screens.shares:SharesScreen",
        title="Shares of several destinations",
        about="plan the shares of several destinations, and move files accordingly",
        home=HomeKey(
            "p",
            "shares",
            "shares",
            "Shares of several destinations",
            button="Share out",
        ),
    ),
    "shares_run": ScreenEntry("features.shares.screens.form:SharesFormScreen"),
    "review": ScreenEntry(
        "features.history.screens.review:ReviewScreen",
        title="Review",
        about="past sessions: replay, compare, annotate and export them",
        home=HomeKey("v", "review", "review", "Review", button="Review", in_footer=True),
    ),
    "profiles": ScreenEntry(
        "features.profiles.screens.profiles:ProfilesScreen",
        title="Profiles",
        about="measured grids and reference profiles: look at them, compare two",
        home=HomeKey("g", "profiles", "profiles", "Profiles"),
    ),
    "rtt": ScreenEntry(
        "features.profiles.screens.rtt:RttScreen",
        title="Throughput against the RTT",
        about="what this host reaches at which distance",
    ),
    "lab": ScreenEntry(
        "features.lab.screen:LabScreen",
        title="Lab",
        about="a long-distance path, emulated on this machine, to experiment with",
        home=HomeKey("l", "lab", "lab", "Lab", button="Lab"),
    ),
    "fleet": ScreenEntry(
        "features.fleet.screens.fleet:FleetScreen",
        title="Fleet",
        about="what the pairs of a fleet reach, and what is measured now",
        home=HomeKey("t", "fleet", "fleet", "Fleet"),
    ),
}
"""All screens that are shown by name."""

WALK: Final = {name: entry.step for name, entry in SCREENS.items() if entry.step}
"""The steps from a question to a command line: screen name, and its word in the trail."""


def first_screens() -> list[str]:
    """Names of the screens that the program can begin with."""
    return list(get_args(FirstScreen))


def screen_class(name: str) -> "type[Screen[None]]":
    """The class of that screen. Raises KeyError for a name that is not there."""
    module, _, class_name = SCREENS[name].target.partition(":")
    found: type[Screen[None]] = getattr(
        importlib.import_module(f"advisor.tui.{module}"), class_name
    )
    return found


def screen_named(name: str, *arguments: Any) -> "Screen[None]":
    """A new screen, made with these. Raises KeyError for a name that is not there."""
    return screen_class(name)(*arguments)
