"""Imports measurements of other programs from files into records."""

import codecs
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from advisor.domain.endpoints import Pair
from advisor.domain.records import Record
from advisor.store.importers import (
    globus_tasks,
    gridftp_log,
    gridftp_usage,
    harp_csv,
    iperf3,
    own_csv,
    own_records,
    probdata,
)
from advisor.store.importers.entries import REFUSALS, BadEntry
from advisor.store.importers.opening import HEAD_BYTES, UNREADABLE, OpenFile, opened
from advisor.store.importers.server_logs import ServerLog, Taken
from advisor.store.importers.usable import require_in_range, require_usable
from advisor.store.transfer_tables import is_header

__all__ = ["BadEntry", "read_file", "read_files"]

_KNOWN = (
    "neither what `advisor` exports, ProbData's .PROF, iperf3 -J, globus task list --format json, "
    "a GridFTP server's transfer log or usage records, nor a CSV table of transfers"
)
_LINES_BETWEEN_TELLING = 1000

Entry = Record | BadEntry
Seen = Callable[[int], object]


def read_file(path: Path, pair: Pair | None = None) -> Iterator[Entry]:
    """The probes in one file, as from `read_files`."""
    for _, entry in read_files([path], pair):
        yield entry


def read_files(
    paths: Iterable[Path],
    pair: Pair | None = None,
    seen: Seen = lambda _: None,
    *,
    restore: bool = False,
) -> Iterator[tuple[Path, Entry]]:
    """The records in files of any known format, and what in each file is not imported.

    The format is detected from the content, also of a gzip file: advisor's own JSON lines, CSV and
    sealed profiles, ProbData's .PROF, the output of `iperf3 -J` or of `globus task list --format
    json`, a GridFTP server's transfer log or usage records, or a CSV table of transfers. `pair`:
    the actual source and destination; without it, those in the file. A transfer logged in several
    of the files is reassembled. The `session` of a record of another program is derived from its
    content. `seen` is called with the number of bytes read so far from all files, as stored on
    disk. `restore`: see own_records.py.
    """
    reading = _Reading(pair, seen, restore)
    for path in paths:
        yield from reading.file(path)
    yield from reading.rest()


class _Reading:
    """Files of one import, one after another."""

    def __init__(self, pair: Pair | None, seen: Seen, restore: bool) -> None:
        self._pair = pair
        self._restore = restore
        self._seen = seen
        self._seen_bytes = 0
        self._logs: dict[str, Path] = {}
        self._log = ServerLog(gridftp_log.parse, gridftp_log.ORIGIN, pair)
        self._usage = ServerLog(gridftp_usage.parse, gridftp_usage.ORIGIN, pair)

    def file(self, path: Path) -> Iterator[tuple[Path, Entry]]:
        """What a file gives before the next one is read."""
        try:
            with opened(path) as file:
                yield from self._entries(path, file)
                self._seen_bytes += file.read_bytes
                self._seen(self._seen_bytes)
        except UNREADABLE as error:
            why = getattr(error, "strerror", None) or str(error)
            yield path, BadEntry("", f"it cannot be read: {why.lower()}")
        except REFUSALS as error:
            # Between entries, of which each parser refuses its own: the files before it count.
            yield path, BadEntry.about("", error)

    def rest(self) -> Iterator[tuple[Path, Entry]]:
        """What is known only after all files were read."""
        for log in (self._log, self._usage):
            yield from self._with_paths(log.rest())

    def _entries(self, path: Path, file: OpenFile) -> Iterator[tuple[Path, Entry]]:
        log = str(path)
        self._logs[log] = path
        lines = file.head.decode("utf-8", "replace").splitlines()
        if gridftp_usage.looks_like_packets(file.head):
            texts = self._telling(gridftp_usage.texts(file), file)
            yield from self._with_paths(self._usage.take(log, texts))
        elif any(gridftp_log.looks_like(line) for line in lines):
            yield from self._with_paths(self._log.take(log, self._telling(file.lines(), file)))
        elif any(gridftp_usage.looks_like(line) for line in lines):
            yield from self._with_paths(self._usage.take(log, self._telling(file.lines(), file)))
        else:
            own = self._own(lines, file)
            others = map(_usable, _of_small_file(path, file, self._pair))
            yield from ((path, entry) for entry in own or others)

    def _own(self, head: list[str], file: OpenFile) -> Iterator[Entry] | None:
        """The records of a file that advisor wrote; None for any other."""
        first = head[0] if head else ""
        if own_csv.looks_like(first):
            return own_csv.read(self._telling(file.lines(), file), self._pair)
        if own_records.is_sealed(first):
            text = file.rest().decode("utf-8", "replace")
            return own_records.read_sealed(text, self._pair, restore=self._restore)
        if own_records.looks_like(first):
            lines = self._telling(file.lines(), file)
            return own_records.read(lines, self._pair, restore=self._restore)
        return None

    def _with_paths(self, taken: Iterable[Taken]) -> Iterator[tuple[Path, Entry]]:
        for (log, _), entry in taken:
            yield self._logs[log], _usable(entry)

    def _telling(self, lines: Iterable[str], file: OpenFile) -> Iterator[str]:
        for number, line in enumerate(lines):
            if number % _LINES_BETWEEN_TELLING == 0:
                self._seen(self._seen_bytes + file.read_bytes)
            yield line


def _usable(entry: Entry) -> Entry:
    """What another program recorded, if an advisor could have."""
    if not isinstance(entry, BadEntry):
        try:
            require_in_range(entry)
            require_usable(entry)
        except REFUSALS as refused:
            return BadEntry.about("", refused)
    return entry


def _of_small_file(path: Path, file: OpenFile, pair: Pair | None) -> Iterator[Entry]:
    """The entries of a file whose format requires the whole content at once."""
    try:
        head = _text(file.head)
    except UnicodeDecodeError:
        yield BadEntry("", f"it is not text: {_KNOWN}")
        return
    lines = head.splitlines()
    if lines and is_header(lines[0]):
        yield from harp_csv.read(file.rest().decode("utf-8-sig", "replace"), path, pair)
        return
    is_json = head.lstrip().startswith("{")
    if not is_json and not any(probdata.looks_like(line) for line in lines):
        yield BadEntry("", _unknown(head))
        return
    try:
        text = file.rest().decode("utf-8-sig")
    except UnicodeDecodeError:
        yield BadEntry("", f"it is not text throughout: {_KNOWN}")
        return
    if globus_tasks.looks_like(head):
        yield from globus_tasks.read(text, pair)
    else:
        yield from iperf3.read(text, pair) if is_json else probdata.read(text.splitlines(), pair)


def _text(head: bytes) -> str:
    """Raises UnicodeDecodeError, but not for a character truncated at the end of the head."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    return decoder.decode(head, final=len(head) < HEAD_BYTES)


def _unknown(head: str) -> str:
    if not head.strip():
        return "it is empty"
    if head.startswith("Connecting to host") or "iperf Done." in head:
        return "it is iperf3's text for people, which omits figures: import the output of iperf3 -J"
    return f"its format is not known: {_KNOWN}"
