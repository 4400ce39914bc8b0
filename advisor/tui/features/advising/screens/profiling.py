"""Profiling: a running session live, and the user's orders to it."""

import time
from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget

from advisor.domain import orders as o
from advisor.domain.quantities import format_duration
from advisor.domain.space import Setting
from advisor.tui.features.advising.screens.evidence import open_evidence
from advisor.tui.features.advising.screens.explanation import WhatIsThisScreen
from advisor.tui.features.advising.screens.try_setting import TrySettingScreen
from advisor.tui.features.advising.session_model import SessionModel, StageModel
from advisor.tui.features.advising.step import Step
from advisor.tui.features.advising.texts import best_setting, outcome_words
from advisor.tui.features.advising.widgets.session_view import SESSION_PANELS, SessionView
from advisor.tui.kit.static import Static
from advisor.tui.status import session_status

_ALL_REDRAWN_EVERY_S: Final = 2.4
_MORE_S: Final = 30.0
_SURE_WITHIN_S: Final = 6.0


class ProfilingScreen(Step):
    """Shows the application's session, redrawn by one timer."""

    NAME = "Profile"
    STEP = "profiling"
    HELP = """[b]Profiling[/b]
Short transfers with different settings, one after the other: w explains this screen.
You need not do anything: it ends on its own; then ctrl+n compares the results."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "pause", "Pause", id="pause"),
        Binding("w", "what", "What is this?", id="what_is_this"),
        Binding("x", "stop", "Stop", id="stop", tooltip="End with the best so far"),
        Binding("e", "extend", "+30 s", id="extend", tooltip="Extend by 30 s"),
        Binding("t", "try", "Try", id="try", tooltip="Try a setting"),
        Binding("s", "skip", "Skip", id="skip", tooltip="Skip this search"),
        Binding("p", "past", "Past transfers", show=False, id="past-transfers"),
        Binding("r", "resume", "Resume", id="resume"),
        Binding("v", "values", "Map: numbers or values", show=False, id="map_values"),
        Binding("u", "other", "Map: the other transport", show=False, id="map_other"),
        *(
            Binding(str(i), f"enlarge('{name}')", f"Only: {name}", show=False, id=f"only_{name}")
            for i, name in enumerate(SESSION_PANELS, 1)
        ),
        Binding("0", "enlarge('')", "All panels", show=False, id="all_panels"),
        Binding("tab", "panel(1)", "Next panel", show=False, id="next_panel"),
        Binding("shift+tab", "panel(-1)", "Panel before", show=False, id="panel_before"),
    ]
    DEFAULT_CSS = """
    ProfilingScreen #body { overflow-y: hidden; }
    ProfilingScreen #word { height: auto; max-height: 8; padding: 0 1; }
    ProfilingScreen #word.done { color: $advised; text-style: bold; }
    ProfilingScreen #word.gave-up { color: $failed; padding: 1 2; text-style: bold; }
    ProfilingScreen #empty { height: 1fr; content-align: center middle; text-align: center; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._said: str | None = None
        self._stop_asked_at_s: float | None = None

    @property
    def _model(self) -> SessionModel | None:
        return self.advisor.session.model if self.advisor.session else None

    def status(self) -> Sequence[Content]:
        """How the session stands, or how it ended."""
        return session_status(self._model) if self._model else super().status()

    def content(self) -> Iterable[Widget]:
        """A message if needed, and the session."""
        yield Static(id="word")
        yield SessionView(id="view")
        yield Static(
            "Nothing is being measured.\n\nGo back to Where (ctrl+g, then new advice), enter "
            "where the data goes,\nand start: this screen then shows every probe live.",
            id="empty",
        )

    def on_mount(self) -> None:
        self._look()
        self.every(_ALL_REDRAWN_EVERY_S / len(SESSION_PANELS), self._look)

    def on_screen_resume(self) -> None:
        # Answer the key with the old content at once; the updates follow.
        self.call_after_refresh(self._look)

    def _look(self) -> None:
        """Draw what changed, unless another screen is shown."""
        if not self.is_mounted or self.app.screen is not self:
            return
        model = self._model
        self.query_one("#view").display = model is not None
        self.query_one("#empty").display = model is None
        if model:
            self._say(model)
            self.query_one(SessionView).show_next(model)

    def _say(self, model: SessionModel) -> None:
        words = outcome_words(model)
        if words == self._said:
            # Even an equal text would cause a layout of the whole screen.
            return
        self._said = words
        word = self.query_one("#word", Static)
        word.display = bool(words)
        word.set_class(model.advice is not None, "done")
        word.set_class(model.gave_up is not None, "gave-up")
        word.update(Content(words))
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Resume is only there for a session that ended without advice, and has measured."""
        if action == "resume":
            return bool(self._model and self._model.can_be_resumed)
        return super().check_action(action, parameters)

    def why_not_next(self) -> str:
        """Why the next step must wait for the session's end."""
        model = self._model
        if model is None:
            return "nothing is measured yet: start from Where"
        if model.gave_up:
            resumes = "r resumes, " if model.can_be_resumed else ""
            return f"there is no advice to compare: {resumes}escape goes back"
        if model.advice is None:
            left = format_duration(max(1, round(model.left_now_s)))
            return (
                f"it is still measuring, about {left} more: wait, or x stops with the best so far"
            )
        return ""

    def _why_no_order(self) -> str:
        model = self._model
        if model is None:
            return "nothing is being measured: start from Where"
        if model.is_over:
            return "this session is over: ctrl+n shows its results"
        return ""

    def _order(self, order: o.Order, words: str) -> None:
        if reason := self._why_no_order():
            self.advisor.refuse(reason)
        elif self.advisor.session:
            self.advisor.session.order(order)
            self.notify(words)

    def action_pause(self) -> None:
        """Pause before the next probe, or resume."""
        model = self._model
        if model and model.paused:
            self._order(o.Resume(), "Resuming")
        else:
            self._order(o.Pause(), "Pausing after this probe; space resumes")

    def action_skip(self) -> None:
        """Skip the present search."""
        stage = self._stage_under_way()
        if stage is None:
            self._order_nothing("there is nothing to skip between two searches: wait a moment")
        elif stage.name == "baseline":
            self._order_nothing("the defaults are being measured: only a search can be skipped")
        else:
            self._order(o.Skip(stage=stage.name), f"{stage.name} ends after this probe")

    def _order_nothing(self, reason: str) -> None:
        self.advisor.refuse(self._why_no_order() or reason)

    def _stage_under_way(self) -> StageModel | None:
        stage = self._model.stage if self._model else None
        return stage if stage and stage.ended_s is None else None

    def action_extend(self) -> None:
        """Extend the budget by 30 s, from the next probe on."""
        self._order(o.Extend(by_s=_MORE_S), "30 s more")

    def action_stop(self) -> None:
        """Stop with the best so far, if pressed twice within a few seconds."""
        if reason := self._why_no_order():
            self.advisor.refuse(reason)
            return
        now_s = time.monotonic()
        asked_s = self._stop_asked_at_s
        if asked_s is not None and now_s - asked_s < _SURE_WITHIN_S:
            self._stop_asked_at_s = None
            self._order(o.Stop(), "Stopping with the best so far")
            return
        self._stop_asked_at_s = now_s
        self.notify(
            "Stop here, with the best so far? Press x again to stop. The measurements are stored.",
            title="Sure?",
            severity="warning",
            timeout=_SURE_WITHIN_S,
        )

    def action_try(self) -> None:
        """Ask for a setting to measure next."""
        model = self._model
        stages = [s for s in model.stages if s.space] if model else []
        if (reason := self._why_no_order()) or not stages or model is None:
            self.advisor.refuse(reason or "no search has begun: wait for the first one")
            return
        stage = stages[-1]
        assert stage.space is not None

        def answered(setting: Setting | None) -> None:
            if setting:
                order = o.Try(subject=stage.subject, setting=setting)
                self._order(order, "It is measured next, after the present probe")

        screen = TrySettingScreen(stage.subject, stage.space, best_setting(model, stage))
        self.app.push_screen(screen, answered)

    def action_what(self) -> None:
        """Explain this screen in plain words."""
        if model := self._model:
            self.app.push_screen(WhatIsThisScreen(model))
        else:
            self.advisor.refuse("nothing is being measured: start from Where")

    def action_past(self) -> None:
        """Open what past transfers predict, if the method consults them."""
        open_evidence(self.advisor, self._model)

    def action_resume(self) -> None:
        """Resume this session, which ended without advice."""
        if reason := self.advisor.why_no_session():
            self.advisor.refuse(reason)
        elif model := self._model:
            # The application replaces this screen, so it must not be the one on top.
            self.advisor.action_home()
            self.advisor.continue_session(model.session)

    def action_values(self) -> None:
        """Toggle probe numbers and throughputs on the map."""
        self.query_one(SessionView).toggle_values()

    def action_other(self) -> None:
        """Show the other transport's map."""
        self.query_one(SessionView).switch_subject()

    def action_enlarge(self, panel: str) -> None:
        """Show one panel alone."""
        self.query_one(SessionView).enlarge(panel)

    def action_panel(self, by: int) -> None:
        """Show the next panel if one is shown at a time; else focus the next widget."""
        view = self.query_one(SessionView)
        if view.has_class("alone"):
            view.next_panel(by)
        elif by > 0:
            self.focus_next()
        else:
            self.focus_previous()
