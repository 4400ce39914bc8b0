"""The reference profiles that come with the program: sealed files that are only read."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

from advisor.domain.endpoints import Pair
from advisor.domain.records import Record

SUFFIX: Final = ".profile.gz"


class References:
    """The sealed profiles in some folders, decoded as those of a stranger when first asked for.

    Any number of threads may share one. `refused`: a sentence for each file that cannot be read.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders

    @property
    def records(self) -> dict[Pair, list[Record]]:
        """What they contain, by pair, in the order of the files' names."""
        return self._read[0]

    @property
    def refused(self) -> list[str]:
        """Why a file is left out."""
        return self._read[1]

    @cached_property
    def _read(self) -> tuple[dict[Pair, list[Record]], list[str]]:
        # Imported late: most commands open a history, and few read the reference profiles.
        from advisor.store.importers import BadEntry, read_files
        from advisor.store.importers.refused import RefusedEntries

        records: dict[Pair, list[Record]] = {}
        refused = RefusedEntries()
        files = [path for folder in self._folders for path in sorted(folder.glob(f"*{SUFFIX}"))]
        for path, entry in read_files(files):
            if isinstance(entry, BadEntry):
                refused.add(path, entry)
            else:
                records.setdefault(entry.pair, []).append(entry)
        return records, list(refused.lines())
