"""The user's configuration: one TOML file with what they would otherwise type each time.

    store = "/data/advisor/history"

    [advise]                          # every session
    budget = "2min"
    transports = ["tcp"]

    [hosts."dtn02.example.org"]       # sessions to this destination; before [advise]
    bandwidth = "10Gbit"
    server = "gsiftp://dtn02.example.org:2811"

    [screen]                          # the terminal interface
    theme = "textual-light"
    drawing = "block"                 # braille, block or ascii

    [keys]                            # what is done, and the key that does it
    next = "f8"

The words of sessions are the long options of `advisor advise`. What is typed goes before the
destination's table, that before [advise], and that before what is built in.
"""

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import click
import platformdirs

OF_SESSIONS: Final = (
    "budget",
    "method",
    "gain-ratio",
    "impeded",
    "iterations",
    "constant",
    "transports",
    "congestion",
    "tools",
    "max-streams",
    "buffer-scale",
    "ports",
    "agent-command",
)
OF_HOSTS: Final = (
    *("agent", "secret-file", "address", "bandwidth", "rtt", "server", "to"),
    *OF_SESSIONS,
)
SCREEN: Final = {"theme": "textual-dark", "drawing": "braille"}
"""How the terminal interface looks where nothing is said."""
DRAWINGS: Final = ("braille", "block", "ascii")
COMMANDS: Final = ("advise", "path", "resume", "history")
OF_PATHS: Final = ("ports", "agent-command")
"""Those that the configuration is for: it is read by no other."""

# Where the option's name in Python is not its long name.
_REPEATED: Final = "constant"
_PARAMETERS: Final = {"gain-ratio": "C", "impeded": "L", "iterations": "N"}


class BadConfiguration(click.ClickException):
    """The file cannot be used; the message names the file, the entry and the remedy."""

    exit_code = 2


def path() -> Path:
    """Where the file is looked for; it need not exist."""
    return platformdirs.user_config_path("advisor") / "config.toml"


def parameter(word: str) -> str:
    """The name that click has for an option's word."""
    return _PARAMETERS.get(word, word.replace("-", "_"))


def load() -> dict[str, Any]:
    """The file's tables, with no word that is not known; empty without a file.

    Raises BadConfiguration.
    """
    file = path()
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise BadConfiguration(f"{file}: {getattr(error, 'strerror', None) or error}") from None
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadConfiguration(f"{file}: {error}") from None
    _check(tables)
    return tables


def _check(tables: Mapping[str, Any]) -> None:
    _check_words(tables, ("store", "advise", "hosts", "screen", "keys"), "")
    if not isinstance(tables.get("store", ""), str):
        raise BadConfiguration(f'{path()}: store must be a directory: write store = "/…"')
    _check_words(_table(tables, "advise", "[advise]"), OF_SESSIONS, "[advise] ")
    screen = _table(tables, "screen", "[screen]")
    _check_words(screen, SCREEN, "[screen] ")
    if screen.get("drawing", DRAWINGS[0]) not in DRAWINGS:
        raise BadConfiguration(f"{path()}: [screen] drawing is one of {', '.join(DRAWINGS)}")
    _table(tables, "keys", "[keys]")
    hosts = _table(tables, "hosts", '[hosts."NAME"]')
    for name in hosts:
        where = f'[hosts."{name}"]'
        _check_words(_table(hosts, name, where), OF_HOSTS, f"{where} ")


def _table(tables: Mapping[str, Any], name: str, where: str) -> Mapping[str, Any]:
    table = tables.get(name, {})
    if not isinstance(table, dict):
        raise BadConfiguration(f"{path()}: {name} must be a table: write {where}")
    return table


def _check_words(table: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    known = list(known)
    for word in table:
        if word not in known:
            near = difflib.get_close_matches(word, known, 1)
            remedy = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(known)}"
            raise BadConfiguration(f"{path()}: {where}has no '{word}': {remedy}")


def as_typed(value: Any) -> Any:
    """A value as it would be typed: lists with commas."""
    if isinstance(value, list):
        return ",".join(str(item) for item in value)
    return str(value)


def _defaults(table: Mapping[str, Any]) -> dict[str, Any]:
    return {
        parameter(word): as_typed(value).split(",") if word == _REPEATED else as_typed(value)
        for word, value in table.items()
    }


def default_map() -> dict[str, Any]:
    """What click takes as defaults of each command. Raises BadConfiguration."""
    tables = load()
    of_sessions = tables.get("advise", {})
    of_paths = {word: of_sessions[word] for word in OF_PATHS if word in of_sessions}
    defaults: dict[str, dict[str, Any]] = {
        "advise": _defaults(of_sessions),
        "path": _defaults(of_paths),
    }
    if "store" in tables:
        for command in COMMANDS:
            defaults.setdefault(command, {})["store"] = tables["store"]
    return defaults


def of_the_screen() -> dict[str, str]:
    """How the terminal interface looks: `theme` and `drawing`. Raises BadConfiguration."""
    table = load().get("screen", {})
    return SCREEN | {word: str(value) for word, value in table.items()}


def keys() -> dict[str, str]:
    """The user's own keys, by the name of what they do. Raises BadConfiguration."""
    return {name: str(key) for name, key in load().get("keys", {}).items()}


def of_host(name: str) -> dict[str, Any]:
    """What is set for sessions to this destination, by parameter. Raises BadConfiguration."""
    return _defaults(load().get("hosts", {}).get(name, {}))
