"""History: stored results of this pair and of similar pairs; use them, or profile now."""

import contextlib
from collections.abc import Iterable
from typing import ClassVar, Final

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import ScreenResume
from textual.widget import Widget
from textual.widgets import Collapsible

from advisor.advising.budget import default_budget_s
from advisor.domain.names import parse_constants, parse_names
from advisor.domain.quantities import format_duration, format_rate, parse_duration
from advisor.models.limits import wanted_bps
from advisor.store.errors import StoreError
from advisor.traits import default_method, default_transports, method_traits, methods
from advisor.tui.features.advising.checks import known_method, known_transports, profiling_time
from advisor.tui.features.advising.draft import Draft
from advisor.tui.features.advising.live_session import LiveSession
from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.features.advising.step import Step
from advisor.tui.features.advising.stored import Stored, stored_for
from advisor.tui.features.advising.widgets.stored_results import StoredResults
from advisor.tui.kit.fields.checks import number_within, one_of, whole_number
from advisor.tui.kit.fields.field import Check, Field, first_problem
from advisor.tui.kit.from_thread import draw_from_thread
from advisor.tui.kit.panels.field_group import FieldGroup
from advisor.tui.kit.sentences import sentence
from advisor.tui.kit.static import Static

_MOST_STREAMS: Final = 128
_MOST_PROBES: Final = 100_000
_FOLLOWED_EVERY_S: Final = 0.2
_OF_THE_NETWORK: Final = ("#field-transports", "#field-congestion", "#field-buffer-scale")
_OF_THE_METHOD: Final[dict[str, tuple[str, Check, str, str]]] = {
    "gain_ratio": (
        "Stop at share C",
        number_within(0.0, 1.0),
        "as in 0.9",
        "Stop when a probe reaches this share of the bandwidth, for methods that have C.",
    ),
    "impeded": (
        "Stop after L",
        whole_number(1, _MOST_PROBES),
        "iterations without gain",
        "Stop after this number of iterations without gain, for methods that count them.",
    ),
    "iterations": (
        "Stop after N",
        whole_number(1, _MOST_PROBES),
        "probes, or rounds of them",
        "Stop after this number of probes, or of rounds of them, as the method counts.",
    ),
    "constants": (
        "Constants",
        parse_constants,
        "as in a=15,alpha=0.6",
        "Other constants of the method; 'advisor plugins' and docs/methods.md have their names.",
    ),
    "buffer_scale": (
        "Buffer scale",
        one_of("linear", "log2"),
        "linear or log2; default: by the range",
        "Spacing of the buffer sizes that are tried.",
    ),
    "seed": (
        "Seed",
        whole_number(0, 2**32 - 1),
        "another one each time",
        "The same seed repeats the same choices, as far as the path answers the same.",
    ),
}
"""Fields of the method's options: label, check, example, explanation."""


class HistoryScreen(Step):
    """The best stored results, and the options for profiling."""

    NAME = "History"
    STEP = "history"
    HELP = (
        "[b]History[/b]\nResults measured for this pair before. If they are recent and rest on "
        "several probes, take them: nothing is measured then. Otherwise profile: settings are "
        "tried, each for some seconds with test traffic from memory to memory, for the time "
        "given below; your files are not touched."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+n", "next", "Profile now", id="next"),
        Binding("f6", "take_it", "Take it", id="take-it"),
    ]
    DEFAULT_CSS = """
    HistoryScreen #cost { height: auto; }
    HistoryScreen #taking { height: auto; color: $act; display: none; padding: 0 2; }
    HistoryScreen.-high Chart { height: 16; }
    HistoryScreen Collapsible { border: none; padding: 0; background: $background; }
    """

    VERTICAL_BREAKPOINTS = [(0, "-low"), (36, "-high")]  # noqa: RUF012  # as Textual declares it

    def __init__(self) -> None:
        super().__init__()
        self._stored = Stored()
        self._taken: LiveSession | None = None

    def content(self) -> Iterable[Widget]:
        draft = self.advisor.draft
        yield Static(id="taking")
        yield StoredResults()
        yield FieldGroup("Profile it now", *self._profiling(draft), id="profiling")

    def _profiling(self, draft: Draft) -> Iterable[Widget]:
        yield Static(id="cost")
        yield Field(
            "Time",
            "budget",
            draft,
            check=profiling_time,
            example="as in 2min; default: a minute, more on very long paths",
            explained="The total time for profiling. More time distinguishes smaller differences "
            "from noise.",
        )
        yield Field(
            "Transports",
            "transports",
            draft,
            check=known_transports,
            example=",".join(default_transports()),
            explained="What is profiled. Every tool has TCP; UDT runs over UDP, and can be "
            "faster where packets are lost on a long path.",
        )
        yield Collapsible(*self._more(draft), title="More options", collapsed=not _any_more(draft))

    def _more(self, draft: Draft) -> Iterable[Widget]:
        yield Field(
            "Method",
            "method",
            draft,
            check=known_method,
            example=default_method("network"),
            explained="How the next setting to try is chosen. 'advisor plugins' lists them. Some "
            "use past transfers instead: " + " ".join(filter(None, _hints())),
        )
        yield Field(
            "Congestion",
            "congestion",
            draft,
            check=parse_names,
            example="as in cubic,bbr: one run of probes each",
            explained="TCP congestion control algorithms. Both hosts' kernels must have them.",
        )
        yield Field(
            "Streams at most",
            "max_streams",
            draft,
            check=whole_number(1, _MOST_STREAMS),
            example="25",
            explained="Parallel TCP streams. Some sites ask for few.",
        )
        for name, (label, check, example, explained) in _OF_THE_METHOD.items():
            yield Field(label, name, draft, check=check, example=example, explained=explained)

    def on_mount(self) -> None:
        self.every(_FOLLOWED_EVERY_S, self._follow)

    def on_screen_resume(self, _: ScreenResume) -> None:
        # The children of panels are mounted after the screen.
        self.call_after_refresh(self._renew)

    def _renew(self) -> None:
        for field in self.query(Field):
            field.refill()
        for name in _OF_THE_NETWORK:
            self.query_one(name).display = not self.advisor.draft.tool_name
        self._show_cost()
        self._explain_method()
        self._look_up()

    def on_field_changed(self, _: Field.Changed) -> None:
        self._show_cost()
        self._explain_method()

    def _explain_method(self) -> None:
        """Explain the requirements of a method that differ from those of the others."""
        words = method_traits(self.advisor.draft.method.strip()).hint
        self.query_one("#field-method", Field).hint(words)

    @work(thread=True, exclusive=True, group="history")
    def _look_up(self) -> None:
        try:
            with self.advisor.history.store() as store:
                found = stored_for(self.advisor.draft, store)
        except StoreError as error:
            draw_from_thread(self, self._show_trouble, str(error))
            return
        draw_from_thread(self, self._show, found)

    def _show_trouble(self, words: str) -> None:
        self.query_one(StoredResults).show_trouble(words)

    def _show(self, found: Stored) -> None:
        self._stored = found
        where = self.advisor.draft.where or "this destination"
        self.query_one(StoredResults).show(found, where)
        self._show_cost()

    def _show_cost(self) -> None:
        """Show the time that profiling takes, and the gain to hope for."""
        draft = self.advisor.draft
        took = f"about {format_duration(_profiling_s(draft))}"
        self.query_one("#profiling", FieldGroup).set_title("Profile it now", took)
        words = _room_words(draft, self._stored.best_bps)
        self.query_one("#cost", Static).update(Content(words))
        self.query_one("#cost").display = bool(words)

    def why_not_next(self) -> str:
        """Why profiling cannot start; "" when it can."""
        if not self.advisor.draft.where:
            return "no destination is given: go back to Where and type one"
        return (
            first_problem(list(self.query(Field)))
            or self.advisor.draft.why_no_tool()
            or self.advisor.why_no_session()
        )

    def action_next(self) -> None:
        """Profile."""
        if self._may_begin():
            self.advisor.begin_session(self._arguments("--measure"))

    def action_take_it(self) -> None:
        """Get advice from stored results, without measuring; it is shown as soon as it is there."""
        if not self._stored.past:
            self.advisor.refuse("nothing is stored for this pair: profile now (ctrl+n)")
        elif self.advisor.draft.interfaces.strip():
            self.advisor.refuse("several networks are measured at once: profile now (ctrl+n)")
        elif self._may_begin():
            self._taken = self.advisor.start_session(self._arguments("--accept-history"))
            self._follow()

    def _may_begin(self) -> bool:
        """Whether a session can begin; if not, a notification says why."""
        if reason := self.why_not_next():
            self.advisor.refuse(reason)
        return not reason

    def _arguments(self, word: str) -> list[str]:
        words = ["advise", "--json", "--orders", word, *self.advisor.history.arguments]
        return [*words, *self.advisor.draft.advise_arguments()]

    def _follow(self) -> None:
        """Say how far the advice from stored results is, and go to it."""
        if self._taken is None:
            return
        model = self._taken.model
        self._say_taking(_taking_words(model, self.advisor.draft.where))
        if not model.is_over:
            return
        self._taken = None
        if model.gave_up:
            self.notify(sentence(model.gave_up.message), title="No advice", severity="error")
        elif self.is_current:
            self.advisor.go("advice")

    def _say_taking(self, words: str) -> None:
        line = self.query_one("#taking", Static)
        line.update(Content(words))
        line.display = bool(words)


def _taking_words(model: SessionModel, where: str) -> str:
    """What advice from stored results waits for; "" when it is over."""
    if model.is_over:
        return ""
    if model.pair is None:
        return f"Connecting to {where} …"
    return "Making the advice from what is stored …"


def _profiling_s(draft: Draft) -> float:
    """The time that was entered, else the default for this path."""
    text = draft.budget.strip()
    with contextlib.suppress(ValueError):
        if text:
            return parse_duration(text)
    seen = draft.path_seen
    return default_budget_s(seen.path.rtt_s if seen else 0.0, files=bool(draft.tool_name))


def _room_words(draft: Draft, best_bps: float | None) -> str:
    """What the path may carry, compared with the best that is stored; "" if it is not known."""
    seen = draft.path_seen
    if seen is None or not seen.path.capacity_bps:
        return ""
    room_bps = wanted_bps(seen.path)
    if best_bps is None:
        return f"The path may carry {format_rate(room_bps)}; its throughput is not known yet."
    if room_bps > best_bps:
        return (
            f"The path may carry {format_rate(room_bps)}, {room_bps / best_bps:.1f} times the best "
            "that is stored."
        )
    return "The best that is stored fills the path: there is little to gain."


def _hints() -> list[str]:
    return [method_traits(name).hint for name in methods()]


def _any_more(draft: Draft) -> bool:
    names = ("method", "congestion", "max_streams", *_OF_THE_METHOD)
    return any(getattr(draft, name) for name in names)
