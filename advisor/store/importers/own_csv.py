"""Advisor's own CSV: a probe in each row, without loss (store/probe_rows.py)."""

from collections.abc import Iterable, Iterator

import msgspec

from advisor.domain.endpoints import Pair
from advisor.domain.records import ProbeRecord, Record, RemarkRecord
from advisor.store.importers.entries import REFUSALS, BadEntry, RefusedError
from advisor.store.importers.usable import require_usable
from advisor.store.probe_rows import is_header, records_in
from advisor.store.remarks import session_of


def looks_like(line: str) -> bool:
    """Whether a file with this first line is such a table."""
    return is_header(line)


def read(lines: Iterable[str], pair: Pair | None) -> Iterator[Record | BadEntry]:
    """The probes and the outliers among them, and the rows that are neither."""
    for number, found, is_outlier in records_in(lines):
        try:
            if isinstance(found, ValueError):
                raise RefusedError(str(found))
            require_usable(found)
        except REFUSALS as refused:
            yield BadEntry.about(f"line {number}", refused)
            continue
        probe = msgspec.structs.replace(found, pair=pair) if pair else found
        yield probe
        if is_outlier:
            yield _mark(probe)


def _mark(probe: ProbeRecord) -> RemarkRecord:
    """The remark that the probe is an outlier. It is the same whenever it is imported."""
    return RemarkRecord(
        pair=probe.pair,
        recorded_s=probe.recorded_s,
        session=session_of(probe),
        probe_s=probe.recorded_s,
        kind="outlier",
    )
