"""`advisor.history`: what is stored, as tables of pandas."""

from collections.abc import Iterable, Iterator
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Final, Literal

import typer

from advisor.cli.history.lookup import resolve_pair
from advisor.cli.options import configured_store
from advisor.domain.problem import ProblemError, ProblemKind
from advisor.notebook.errors import AdvisorError
from advisor.store.completeness import in_full
from advisor.store.exporters import probe_rows
from advisor.store.history import SessionDigest, Store
from advisor.store.layout import shipped_profiles
from advisor.store.opening import open_backend
from advisor.store.probe_rows import CSV_COLUMNS, utc_text

if TYPE_CHECKING:
    import pandas as pd

_TIMES: Final = frozenset({"recorded_utc", "began_utc"})
_FLAGS: Final = frozenset({"outlier"})
_WHOLE: Final = frozenset(
    {
        "streams",
        "buffer_bytes",
        "block_bytes",
        "mss_bytes",
        "mtu_bytes",
        "intervals",
        "steady_intervals",
        "retransmits",
        "seed",
        "probes",
        "failures",
    }
)
_MOST: Final = 2**53
"""Above it a float is no exact number."""

_PROBE_COLUMNS: Final = tuple(name for name in CSV_COLUMNS if name != "rest_json")
_SESSION_COLUMNS: Final = (
    "began_utc",
    "session",
    "source",
    "destination",
    "state",
    "method",
    "subjects",
    "probes",
    "failures",
    "rtt_s",
    "bandwidth_bps",
    "best_subject",
    "best_bps",
    "advised_subject",
    "expected_bps",
    "expected_low_bps",
    "expected_high_bps",
    "default_bps",
    "transferred_bps",
    "came_true",
    "outlier",
    "origin",
)


def history(
    pair: str | None = None,
    *,
    kind: Literal["probes", "sessions"] = "probes",
    store: str | PathLike[str] | None = None,
) -> "pd.DataFrame":
    """What is stored: a row for each probe, or for each session; the oldest first.

    `pair`: as `advisor history show` takes it, `SOURCE->DESTINATION` or the destination alone; all
    pairs without it. `store`: the folder or address of the history, else as configured. Columns
    are named with their units: rates in bit/s end in `_bps`, times in seconds in `_s`, sizes in
    `_bytes`, points of time in `_utc`. What is not known is NA. Deleted sessions are left out, and
    outliers are marked in `outlier`.

    Raises AdvisorError without pandas, for a pair that is not stored, and if the history cannot be
    read.
    """
    pandas = _pandas()
    if kind not in ("probes", "sessions"):
        raise AdvisorError(
            f"kind='{kind}': there is no such table",
            remedy="choose 'probes' or 'sessions'",
            kind=ProblemKind.INVALID,
        )
    try:
        kept = _opened(store)
        with in_full(kept.kept, "the table"):
            pairs = [resolve_pair(kept, pair)] if pair else kept.stored_pairs()
            if kind == "probes":
                rows = list(probe_rows(record for one in pairs for record in kept.records(one)))
            else:
                rows = list(_session_rows(d for one in pairs for d in kept.sessions(one)))
    except ProblemError as error:
        raise AdvisorError.about("", error) from error
    except typer.BadParameter as error:
        raise AdvisorError(error.format_message(), kind=ProblemKind.INVALID) from error
    columns = _PROBE_COLUMNS if kind == "probes" else _SESSION_COLUMNS
    return _frame(pandas, rows, columns)


def _pandas() -> Any:
    try:
        import pandas as pd
    except ImportError as error:
        raise AdvisorError(
            f"a history as a table needs pandas ({error})",
            kind=ProblemKind.MISSING,
            remedy="install the extra notebook: pip install 'data-transfer-advisor[notebook]'",
        ) from None
    return pd


def _opened(store: str | PathLike[str] | None) -> Store:
    if store is None:
        return configured_store()
    return Store(open_backend(fspath(store)), shipped_profiles())


def _frame(pandas: Any, rows: list[dict[str, object]], columns: tuple[str, ...]) -> "pd.DataFrame":
    """The rows, sorted by their first column, each column with one type that has NA.

    In a shared history others write the settings: what is no number in a column of numbers is NA.
    """
    frame = pandas.DataFrame(
        [{name: row[name] for name in columns if row.get(name, "") != ""} for row in rows],
        columns=list(columns),
        dtype=object,
    )
    for name in columns:
        values = frame[name]
        if name in _TIMES:
            frame[name] = pandas.to_datetime(values, utc=True).astype("datetime64[s, UTC]")
        elif name in _FLAGS:
            frame[name] = values.notna()
        elif name in _WHOLE:
            numbers = pandas.to_numeric(values, errors="coerce")
            is_whole = (numbers % 1 == 0) & (numbers.abs() < _MOST)
            frame[name] = numbers.where(is_whole).astype("Float64").astype("Int64")
        elif name.endswith(("_bps", "_s")):
            frame[name] = pandas.to_numeric(values, errors="coerce").astype("Float64")
        else:
            frame[name] = values.astype("string")
    return frame.sort_values(columns[0], kind="stable", ignore_index=True)


def _session_rows(sessions: Iterable[SessionDigest]) -> Iterator[dict[str, object]]:
    for one in sessions:
        best, advice = one.best, one.advice
        followed = one.transfers[-1] if one.transfers else None
        yield {
            "began_utc": utc_text(one.began_s),
            "session": one.session,
            "source": one.pair.source,
            "destination": one.pair.destination,
            "state": one.state,
            "method": one.method,
            "subjects": ", ".join(one.transports),
            "probes": one.probes,
            "failures": one.failures,
            "rtt_s": one.rtt_s,
            "bandwidth_bps": one.bandwidth_bps,
            "best_subject": best and best.subject,
            "best_bps": best and best.throughput_bps,
            "advised_subject": advice and advice.subject,
            "expected_bps": advice and advice.expected_bps,
            "expected_low_bps": advice and advice.interval_bps[0],
            "expected_high_bps": advice and advice.interval_bps[1],
            "default_bps": advice and advice.default_bps,
            "transferred_bps": followed and followed.rate_bps,
            "came_true": followed and followed.came_true,
            "outlier": "yes" if one.outlier else "",
            "origin": one.origin,
        }
