"""The named paths: a small TOML file each.

    title = "Argonne to TACC"
    note = "direct-search-2016: 33 ms, 20 Gbit/s. Here at 1/20 of the rate."
    rtt = "33ms"
    rate = "1Gbit"
    queue = "4MB"
    mtu = 9000

    [reverse]           # what differs on the way back; [forward] likewise
    rate = "500Mbit"
    loss = 0.001

Shipped paths are in `presets/`, the user's own in the folder `paths` of the user's configuration;
the user's take precedence.
"""

import difflib
import tomllib
from pathlib import Path
from typing import Any, Final

import platformdirs

from advisor.lab.paths import BadPath, EmulatedPath, changed, read_changes

_SHIPPED: Final = Path(__file__).parent / "presets"
_SUFFIX: Final = ".toml"


def user_paths_folder() -> Path:
    """The folder for the user's own paths; it need not exist."""
    return platformdirs.user_config_path("advisor") / "paths"


def names() -> list[str]:
    """All names that `find` knows, the user's own and the shipped ones."""
    found = {
        p.stem for folder in (user_paths_folder(), _SHIPPED) for p in folder.glob(f"*{_SUFFIX}")
    }
    return sorted(found)


def has(name: str) -> bool:
    """Whether there is a path of that name."""
    return name in names()


def find(name: str) -> EmulatedPath:
    """A path by its name, or by the name of its file. Raises BadPath."""
    if name.endswith(_SUFFIX) or "/" in name:
        try:
            file = Path(name).expanduser()
        except RuntimeError:
            raise BadPath(f"there is no user whose folder '{name}' names") from None
        return read_path(file)
    for folder in (user_paths_folder(), _SHIPPED):
        file = folder / f"{name}{_SUFFIX}"
        if file.is_file():
            return read_path(file)
    near = difflib.get_close_matches(name, names(), 1)
    guess = f"did you mean {near[0]}? " if near else ""
    raise BadPath(
        f"there is no path '{name}'",
        remedy=f"{guess}'advisor lab paths' lists them",
        command="advisor lab paths",
    )


def read_path(file: Path) -> EmulatedPath:
    """The path in a file. Raises BadPath, which names the file."""
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
        return _path(tables)
    except OSError as error:
        raise BadPath(f"{file}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, BadPath) as error:
        raise BadPath.about(str(file), error) from None


def _path(tables: dict[str, Any]) -> EmulatedPath:
    title, note = (str(tables.pop(name, "")) for name in ("title", "note"))
    ways = {name: tables.pop(name, {}) for name in ("forward", "reverse")}
    path = changed(EmulatedPath(title=title, note=note), read_changes(tables))
    for which, entries in ways.items():
        if not isinstance(entries, dict):
            raise BadPath(f"{which} must be a table", remedy=f"write [{which}]")
        path = changed(path, read_changes(entries), which)
    return path
