"""The recorded tables, from the folder that ADVISOR_DATA names."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from advisor.backtest.from_transfers import tables_of
from advisor.backtest.recorded import RecordedTable
from advisor.store.transfer_tables import read_transfer_table

GRIDS = ("SGData", "SBData", "sg1G", "sg5-25M")
STREAMS = ("loni",)


class Trouble(Exception):
    """The bench cannot continue; the message says why and what helps."""


def data_folder() -> Path:
    """The folder with the public records. Raises Trouble where there is none."""
    named = os.environ.get("ADVISOR_DATA", "")
    if not named:
        raise Trouble(
            "set ADVISOR_DATA to a folder that has gridftp-grids/ and parallel-streams/ in it"
        )
    folder = Path(named)
    for part in ("gridftp-grids", "parallel-streams"):
        if not (folder / part).is_dir():
            raise Trouble(f"ADVISOR_DATA is {folder}, which has no {part}/: name another folder")
    return folder


def grid_tables(folder: Path) -> list[RecordedTable]:
    """One table per file and condition of the four grids of 6 × 6 × 6 settings."""
    return [table for name in GRIDS for table in _tables(folder / "gridftp-grids" / f"{name}.csv")]


def stream_tables(folder: Path) -> list[RecordedTable]:
    """The tables that are mostly over parallel streams alone."""
    files = [folder / "parallel-streams" / f"{name}.csv" for name in STREAMS]
    return [table for file in files for table in _tables(file)]


def _tables(file: Path) -> list[RecordedTable]:
    if not file.is_file():
        raise Trouble(f"{file} is missing: ADVISOR_DATA needs all of {', '.join(GRIDS + STREAMS)}")
    try:
        tables, _ = tables_of(file.stem, read_transfer_table(file))
    except (OSError, ValueError) as error:
        raise Trouble(str(error)) from error
    return tables


def by_source(tables: Sequence[RecordedTable]) -> Mapping[str, list[RecordedTable]]:
    """The tables of each file, in the files' order."""
    sources: dict[str, list[RecordedTable]] = {}
    for table in tables:
        sources.setdefault(table.source, []).append(table)
    return sources
