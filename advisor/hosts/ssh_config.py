"""The host aliases in the user's ssh configuration."""

import contextlib
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_DEEPEST: Final = 4
"""Maximum depth of included files; ssh itself stops at 16."""


def host_aliases(config: Path | None = None) -> list[str]:
    """The names after `Host` in the user's ssh configuration, in order, without patterns.

    `config`: the file, ~/.ssh/config by default. Unreadable files are skipped.
    """
    file = config or Path.home() / ".ssh" / "config"
    return list(dict.fromkeys(_aliases(file, file.parent, _DEEPEST)))


def _aliases(file: Path, folder: Path, deep: int) -> Iterator[str]:
    for keyword, values in _lines(file):
        if keyword == "host":
            yield from (value for value in values if not set(value) & set("*?!"))
        elif keyword == "include" and deep:
            for value in values:
                # A relative name is relative to the user's configuration.
                pattern = str((folder / Path(value).expanduser()).absolute())
                for found in sorted(Path("/").glob(pattern.lstrip("/"))):
                    yield from _aliases(found, folder, deep - 1)


def _lines(file: Path) -> Iterator[tuple[str, list[str]]]:
    text = ""
    with contextlib.suppress(OSError):
        text = file.read_text(encoding="utf-8", errors="replace")
    for line in text.splitlines():
        with contextlib.suppress(ValueError):  # A quote that is not closed.
            words = shlex.split(line.replace("=", " ", 1), comments=True)
            if len(words) > 1:
                yield words[0].lower(), words[1:]
