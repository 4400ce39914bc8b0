"""Results of a bench, a line each in a file, so that a run can be interrupted and goes on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

_Line = TypeVar("_Line", bound=msgspec.Struct)
_Kind = TypeVar("_Kind")


class KeptLines(Generic[_Line]):
    """The file's lines. What a killed run left unfinished at its end is cut off."""

    def __init__(self, file: Path, kind: Any) -> None:
        """`kind`: of the lines, as `msgspec` has it."""
        self.file = file
        data = file.read_bytes() if file.exists() else b""
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            file.write_bytes(whole)
        decoder = msgspec.json.Decoder(kind)
        self.lines: list[_Line] = [decoder.decode(text) for text in whole.splitlines()]

    def add(self, line: _Line) -> None:
        """Keep it, on the disk when this returns."""
        self.lines.append(line)
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("ab") as out:
            out.write(msgspec.json.encode(line) + b"\n")
            out.flush()
            os.fsync(out.fileno())

    def all(self, kind: type[_Kind], case: str | None = None) -> list[_Kind]:
        """All lines of a kind, of one case where one is said."""
        found = [line for line in self.lines if isinstance(line, kind)]
        return [line for line in found if case is None or getattr(line, "case", None) == case]
