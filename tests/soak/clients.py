"""Wraps globus-url-copy, and records what each run was given to move."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from tests.soak.ranges import Range

# It keeps its process id: whether that run is still at work can be seen.
_PROGRAM: Final = """#!/bin/sh
for word; do
    case "$last" in -f)
        cp "$word" "$SOAK_LISTS/.$$" && mv "$SOAK_LISTS/.$$" "$SOAK_LISTS/$$"
    esac
    last=$word
done
[ -z "$SOAK_HANGS" ] || exec sleep 600
exec {client} "$@"
"""
_ENTRY: Final = re.compile(r"file://(?P<source>\S+) \S+(?: (?P<begin>\d+),(?P<length>\d+))?")


class Clients:
    """Those of one run of `advisor`."""

    def __init__(self, folder: Path, source: Path, sizes: Mapping[str, int], *, hang: bool) -> None:
        """`folder`: for what they are given; it is made. `sizes`: of the files by name.

        `hang`: they do nothing, and do not end by themselves.
        """
        folder.mkdir()
        self._folder = folder
        self._source = source
        self._sizes = sizes
        self._hang = hang
        self._read: dict[Path, list[Range]] = {}

    @property
    def environment(self) -> dict[str, str]:
        """What the run needs set."""
        return {"SOAK_LISTS": str(self._folder), "SOAK_HANGS": "yes" if self._hang else ""}

    @property
    def count(self) -> int:
        """How many were started."""
        return len(self._lists())

    @property
    def has_idle(self) -> bool:
        """Whether one of them has ended."""
        return any(_has_ended(path) for path in self._lists())

    @property
    def has_busy(self) -> bool:
        """Whether one of them is at work."""
        return not all(_has_ended(path) for path in self._lists())

    def reported(self, *, ended: bool = False) -> list[list[Range]]:
        """The ranges that each of them was to move; with `ended` only of those that have."""
        lists = [path for path in self._lists() if not ended or _has_ended(path)]
        for path in lists:
            if path not in self._read:
                self._read[path] = self._ranges(path.read_text().splitlines())
        return [self._read[path] for path in lists]

    def _lists(self) -> list[Path]:
        return [path for path in self._folder.iterdir() if path.name.isdigit()]

    def _ranges(self, lines: Sequence[str]) -> list[Range]:
        found = []
        for line in lines:
            match = _ENTRY.fullmatch(line)
            if match is None:
                raise ValueError(f"a client was given what is no line of a list: {line}")
            name = str(Path(unquote(match["source"])).relative_to(self._source))
            name = "" if name == "." else name
            begin = int(match["begin"] or 0)
            length = int(match["length"]) if match["length"] else self._sizes[name]
            found.append(Range(name, begin, begin + length))
        return found


def _has_ended(path: Path) -> bool:
    return not Path("/proc", path.name).exists()


def put_before(folder: Path) -> None:
    """Put it into this folder, which is to come first in PATH."""
    folder.mkdir()
    program = folder / "globus-url-copy"
    program.write_text(_PROGRAM.format(client=shutil.which("globus-url-copy")))
    program.chmod(0o755)
