"""Results of a benchmark, one per line in a file, so that an interrupted run can be resumed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

_Line = TypeVar("_Line", bound=msgspec.Struct)
_Kind = TypeVar("_Kind")


class KeptLines(Generic[_Line]):
    """The file's lines, without an incomplete one that a killed run left at the end."""

    def __init__(self, file: Path, kind: Any) -> None:
        """`kind`: the type of the lines, for `msgspec`."""
        self.file = file
        data = file.read_bytes() if file.exists() else b""
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            file.write_bytes(whole)
        decoder = msgspec.json.Decoder(kind)
        self.lines: list[_Line] = [decoder.decode(text) for text in whole.splitlines()]

    def add(self, line: _Line) -> None:
        """Store it; it is on disk when this returns."""
        self.lines.append(line)
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("ab") as out:
            out.write(msgspec.json.encode(line) + b"\n")
            out.flush()
            os.fsync(out.fileno())

    def all(self, kind: type[_Kind], case: str | None = None) -> list[_Kind]:
        """All lines of a kind, or those of one case."""
        found = [line for line in self.lines if isinstance(line, kind)]
        return [line for line in found if case is None or getattr(line, "case", None) == case]
