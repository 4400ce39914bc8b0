"""Records that wait on this host for the shared history, which could not be reached.

    STATE/shared/KEY/address          the address of the history
    STATE/shared/KEY/journal.jsonl    what waits, in order
    STATE/shared/KEY/refused.jsonl    what the history did not take: somebody else's session
    STATE/shared/KEY/raw/…            events of sessions, see session_log.py

STATE is the user's state folder of advisor. A record is removed when the history has it; killed in
between, it is sent again, and the history knows it by its content.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from filelock import Timeout, UnixFileLock
from platformdirs import user_state_path

from advisor.domain.endpoints import Pair
from advisor.domain.records import Record
from advisor.hosts.locks import require_locks
from advisor.hosts.private_folders import NotPrivate, private_folder
from advisor.store.errors import StoreError, explaining
from advisor.store.files import ensure_file, replace_file
from advisor.store.journal import JournalStorage, JournalTable
from advisor.store.postgres.address import Address

_ADDRESS: Final = "address"
_MOST_ADDRESS_BYTES: Final = 4096
_ELSEWHERE: Final = "set XDG_STATE_HOME to a folder on another file system"


class Waiting(msgspec.Struct, frozen=True):
    """A record that waits. `only_new`: see Backend.append_new."""

    record: Record
    only_new: bool = False


class Spool:
    """What waits for the history at `address`. Nothing is created before something waits."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.folder = _place() / address.key
        self._waiting = JournalTable(JournalStorage(self.folder / "journal.jsonl", _ELSEWHERE))
        self._refused = JournalTable(JournalStorage(self.folder / "refused.jsonl", _ELSEWHERE))

    def __len__(self) -> int:
        """How many records wait."""
        return len(self._waiting)

    @property
    def refused(self) -> int:
        """How many records the history did not take."""
        return len(self._refused)

    def add(self, records: Iterable[Waiting]) -> None:
        """Keep records; they are on disk when this returns.

        Raises StoreFull without enough space, and StoreError if it cannot be written.
        """
        self.make()
        self._waiting.insert_multiple([_document(one) for one in records])

    def make(self) -> Path:
        """Its folder, made private. Raises StoreError."""
        try:
            private_folder(self.folder.absolute(), _place().absolute())
        except NotPrivate as error:
            raise StoreError.about("", error) from error
        address = self.folder / _ADDRESS
        if not address.exists():
            with explaining(address, "write", _ELSEWHERE):
                replace_file(address, self.address.uri.encode())
        return self.folder

    def of(self, pair: Pair) -> list[Record]:
        """The records of a pair that wait, in order."""
        named = msgspec.to_builtins(pair)
        return [one.record for _, one in self._decoded(lambda d: d["record"]["pair"] == named)]

    def all(self) -> list[tuple[int, Waiting]]:
        """What waits, each under a number, in order."""
        return self._decoded(lambda _: True)

    def _decoded(self, wanted: Callable[[Mapping[str, Any]], bool]) -> list[tuple[int, Waiting]]:
        found = []
        for document in self._waiting:
            # Not what another version, or nobody, has written.
            with contextlib.suppress(msgspec.ValidationError, LookupError, TypeError):
                if wanted(document):
                    one = msgspec.convert(dict(document), Waiting, str_keys=True)
                    found.append((document.doc_id, one))
        return found

    def sending(self) -> UnixFileLock | None:
        """A lock that one sender at a time holds; None while another does. Raises StoreError."""
        file = self.make() / "send.lock"
        lock = UnixFileLock(file, timeout=0)
        with explaining(file, "write", _ELSEWHERE):
            ensure_file(file)
            require_locks(file)
            try:
                lock.acquire()
            except Timeout:
                return None
        return lock

    def remove(self, numbers: Sequence[int], refused: Sequence[Waiting] = ()) -> None:
        """Forget what was sent, and put aside what was refused. Raises StoreError."""
        if refused:
            self._refused.insert_multiple([_document(one) for one in refused])
        if numbers:
            self._waiting.remove(doc_ids=list(numbers))


def spools() -> Iterator[Spool]:
    """Every spool of this user. One whose address cannot be read is left out."""
    place = _place()
    with explaining(place, "read"):
        folders = sorted(place.iterdir()) if place.is_dir() else []
    for folder in folders:
        try:
            text = (folder / _ADDRESS).read_bytes()[:_MOST_ADDRESS_BYTES].decode()
            address = Address.parse(text)
        except (OSError, UnicodeDecodeError, StoreError):
            continue
        if address.key == folder.name:
            yield Spool(address)


def _place() -> Path:
    return user_state_path("advisor") / "shared"


def _document(waiting: Waiting) -> dict[str, object]:
    document: dict[str, object] = msgspec.to_builtins(waiting)
    return document
