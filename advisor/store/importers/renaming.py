"""Records of advisor's own files under another pair, and what in them is named by their pair.

Sessions of imported probes are (store/remarks.py). Remarks and transfers that name one are held
back until all probes of the file were read: only those tell which sessions become one.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final

import msgspec

from advisor.domain.endpoints import Pair
from advisor.domain.records import (
    AdviceRecord,
    ProbeRecord,
    ProfileRecord,
    Record,
    RemarkRecord,
    TransferRecord,
)
from advisor.store.importers.entries import BadEntry, RefusedError
from advisor.store.remarks import OWN_ORIGIN, is_import_session, session_of

_MEMBERS: Final = (
    "a profile that was made of the history names its measurements by their pair: import it "
    "without --pair"
)
_NOT_HERE: Final = "what it is about is not in this file: import it without --pair"
_JOINED: Final = (
    "it marks measurements that --pair puts together with others: mark them again after the import"
)


class Renaming:
    """Puts the records of one file under `pair`."""

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        self._renamed: dict[str, str] = {}
        self._held: list[tuple[str, RemarkRecord | TransferRecord]] = []

    def record(self, place: str, record: Record) -> Record | None:
        """The record under the pair; None for one that is held back. `place`: of a BadEntry.

        Raises RefusedError.
        """
        match record:
            case RemarkRecord() | TransferRecord() if is_import_session(record.session):
                self._held.append((place, record))
                return None
            case ProfileRecord() if record.members:
                raise RefusedError(_MEMBERS)
            case AdviceRecord():
                advice = msgspec.structs.replace(record.advice, pair=self._pair)
                return msgspec.structs.replace(record, pair=self._pair, advice=advice)
        renamed = msgspec.structs.replace(record, pair=self._pair)
        if isinstance(record, ProbeRecord) and record.origin != OWN_ORIGIN:
            self._renamed[session_of(record)] = session_of(renamed)
        return renamed

    def rest(self) -> Iterator[Record | BadEntry]:
        """What was held back, in order, after all other records of the file."""
        joined = Counter(self._renamed.values())
        for place, record in self._held:
            session = self._renamed.get(record.session)
            if session is None:
                yield BadEntry(place, _NOT_HERE)
            elif _marks_all(record) and joined[session] > 1:
                yield BadEntry(place, _JOINED)
            else:
                yield msgspec.structs.replace(record, pair=self._pair, session=session)


def _marks_all(record: RemarkRecord | TransferRecord) -> bool:
    """Whether a whole session of probes would no longer count, or count again."""
    return isinstance(record, RemarkRecord) and record.kind != "note" and record.probe_s is None
