"""One past session: playback at any speed, its advice, and its notes."""

from functools import partial
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content

from advisor.domain.quantities import format_rate
from advisor.report.composition import composition_words
from advisor.report.times import local_time
from advisor.store.errors import StoreError
from advisor.store.session_digests import SessionDigest
from advisor.traits import describe
from advisor.tui.features.history.past_events import events_of
from advisor.tui.features.history.remarks import ask_for_note, ask_for_transfer, verdict
from advisor.tui.features.history.replay import Replay
from advisor.tui.features.history.screens.playback import PlaybackPage
from advisor.tui.kit.from_thread import draw_from_thread
from advisor.tui.kit.sentences import count_words
from advisor.tui.page import past_trail


class SessionScreen(PlaybackPage):
    """Opened from Review. `session` is its entry in the list."""

    NAME = "Session"
    HELP = (
        "[b]A past session[/b] as its screen was. It opens at its end; Home goes to its "
        "beginning, Space plays it from there, + and − change the speed, Left and Right go from "
        "probe to probe. Time without events is skipped."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "note", "Note", id="note"),
        Binding("t,T", "record", "Record transfer", id="record"),
    ]

    def __init__(self, session: SessionDigest) -> None:
        super().__init__()
        self._session = session
        self._kept = True

    def trail(self) -> Content:
        return past_trail(self._session.session)

    def about(self) -> list[Content]:
        return [*session_lines(self._session, kept=self._kept), *self._composed()]

    def _composed(self) -> list[Content]:
        """The limits by disks and network, where files were moved."""
        advice = self._replay.whole().advice if self._replay else None
        if advice is None or advice.composition is None:
            return []
        return [Content(f"Disks and network: {composition_words(advice.composition)}.")]

    def on_mount(self) -> None:
        super().on_mount()
        self.call_after_refresh(self._load)

    @work(thread=True, exclusive=True)
    def _load(self) -> None:
        try:
            with self.advisor.history.store() as store:
                events, kept = events_of(store, self._session)
        except StoreError as error:
            draw = partial(self.fail, str(error))
        else:
            draw = partial(self._take, Replay(events), kept)
        draw_from_thread(self, draw)

    def _take(self, replay: Replay, kept: bool) -> None:
        self._kept = kept
        self.take(replay)

    def action_note(self) -> None:
        """Add a note to it."""
        ask_for_note(self.advisor, [self._session], self._check_again)

    def action_record(self) -> None:
        """Ask for the result of a real transfer that followed it."""
        ask_for_transfer(self.advisor, self._session, self._check_again)

    def _check_again(self) -> None:
        """Reload the remarks."""
        try:
            with self.advisor.history.store() as store:
                known = store.sessions(self._session.pair)
        except StoreError as error:
            self.advisor.refuse(str(error))
            return
        self._session = next(
            (s for s in known if s.session == self._session.session), self._session
        )
        self.say_about()


def session_lines(session: SessionDigest, *, kept: bool = True) -> list[Content]:
    """A summary in lines; `kept`: whether its events were stored."""
    best = session.best
    reached = (
        f", at best {format_rate(best.throughput_bps)} with {describe(best.subject, best.setting)}"
        if best
        else ""
    )
    lines = [
        Content.assemble(
            (str(session.pair), "bold"),
            f"  {local_time(session.began_s)}, {session.state}; "
            f"{count_words(session.probes, 'probe')}{reached}",
        )
    ]
    if session.outlier:
        words = "Marked as an outlier: it no longer counts as a result."
        lines.append(Content.styled(words, "$act"))
    if not kept:
        words = (
            "Its events were not stored: this is derived from its probes' records, without the "
            "search's steps."
        )
        lines.append(Content.styled(words, "$act"))
    interval_bps = session.advice.interval_bps if session.advice else None
    remarks = [
        f"Transfer {local_time(t.recorded_s)}: {verdict(t.rate_bps, interval_bps)} {t.note}"
        for t in session.transfers
    ]
    remarks += [
        f"Note {local_time(n.recorded_s)}: {n.text}{f' ({n.by})' if n.by else ''}"
        for n in session.notes
    ]
    return [*lines, *map(Content, remarks)]
