"""Remarks on past sessions: notes, outliers, and results of real transfers."""

import time
from collections.abc import Callable, Sequence
from typing import Final, Literal

from advisor.domain.advice import Advice, CameTrue, came_true
from advisor.domain.quantities import format_rate, format_rates, parse_duration, parse_size
from advisor.domain.records import RemarkRecord, TransferRecord
from advisor.store.errors import StoreError
from advisor.store.session_digests import SessionDigest
from advisor.tui.kit.dialogs.entry import DialogField, EntryScreen
from advisor.tui.kit.sentences import count_words
from advisor.tui.shell import Shell

CAME_TRUE: Final[dict[CameTrue, str]] = {
    "within": "within the interval",
    "above": "above the interval",
    "below": "below the interval",
}


def ask_for_transfer(
    app: Shell,
    followed: Advice | SessionDigest,
    stored: Callable[[], None] = lambda: None,
) -> None:
    """Ask for the result of a real transfer that followed this; store it, then call `stored`."""
    advice = followed if isinstance(followed, Advice) else followed.advice

    def entered(texts: dict[str, str] | None) -> None:
        if texts is None:
            return
        record = TransferRecord(
            pair=followed.pair,
            recorded_s=time.time(),
            session=followed.session,
            total_bytes=parse_size(texts["size"]),
            elapsed_s=parse_duration(texts["took"]),
            note=texts["note"].strip(),
        )
        try:
            with app.history.store() as store:
                store.append(record)
        except StoreError as error:
            app.refuse(str(error))
        else:
            interval_bps = advice.interval_bps if advice else None
            app.notify(verdict(record.rate_bps, interval_bps), title="Recorded")
            stored()

    fields = (
        DialogField(name="size", label="What was moved", placeholder="10TB", check=parse_size),
        DialogField(
            name="took", label="How long it took", placeholder="47min", check=parse_duration
        ),
        DialogField(name="note", label="Note (optional)"),
    )
    app.push_screen(EntryScreen("What the transfer gave", fields, "Record"), entered)


def verdict(rate_bps: float, interval_bps: tuple[float, float] | None) -> str:
    """A sentence that says whether advice came true."""
    if interval_bps is None:
        return f"{format_rate(rate_bps)}; there is no advice to compare it with."
    where = CAME_TRUE[came_true(rate_bps, interval_bps)]
    return f"{format_rate(rate_bps)}: {where} of the advice, {format_rates(*interval_bps)}."


def keep_remark(
    app: Shell,
    session: SessionDigest,
    kind: Literal["note", "outlier", "deleted"],
    *,
    on: bool = True,
    text: str = "",
) -> bool:
    """Store a remark; returns whether that succeeded, and notifies the user if not."""
    remark = RemarkRecord(
        pair=session.pair,
        recorded_s=time.time(),
        session=session.session,
        kind=kind,
        text=text,
        on=on,
    )
    try:
        with app.history.store() as store:
            store.append(remark)
    except StoreError as error:
        app.refuse(str(error))
        return False
    return True


def ask_for_note(app: Shell, sessions: Sequence[SessionDigest], stored: Callable[[], None]) -> None:
    """Ask for a note and store it for each of these; then call `stored`."""

    def not_empty(text: str) -> None:
        if not text.strip():
            raise ValueError("it is empty: type a note")

    def entered(texts: dict[str, str] | None) -> None:
        if texts and all(keep_remark(app, s, "note", text=texts["text"]) for s in sessions):
            stored()

    which = sessions[0].session if len(sessions) == 1 else count_words(len(sessions), "session")
    field = DialogField(
        name="text", label="Note", placeholder="measured on a Sunday", check=not_empty
    )
    app.push_screen(EntryScreen(f"A note beside {which}", [field], "Keep"), entered)
