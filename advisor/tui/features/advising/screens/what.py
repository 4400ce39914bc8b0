"""What: the files to move, scanned in the background, or typed sizes."""

from collections.abc import Iterable
from typing import ClassVar, Final, cast

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import ScreenResume
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Checkbox, RadioSet, Static

from advisor.advising.budget import default_budget_s
from advisor.domain.addresses import parse_server
from advisor.domain.dataset import Dataset
from advisor.domain.quantities import (
    format_bytes,
    format_duration,
    format_rate,
    parse_duration,
    parse_rate,
    parse_size,
)
from advisor.models.file_classes import classify, of_bins
from advisor.models.limits import is_loopback, wanted_bps
from advisor.traits import moving_tool
from advisor.tui.features.advising.form import Draft, Profiled, What, parse_count
from advisor.tui.features.advising.step import Step
from advisor.tui.features.advising.widgets.file_histogram import FileHistogram
from advisor.tui.kit.checks import existing_path, whole_number
from advisor.tui.kit.choice import Choice, ChoiceSet, Tick
from advisor.tui.kit.field import Field, first_problem
from advisor.tui.kit.scanning import Scan
from advisor.tui.kit.suggestions import PathSuggester

_AFTER_LAST_KEY_S: Final = 0.6
_REDRAW_S: Final = 0.5
_USUAL_BPS: Final = 10e9
_USUAL_RTT_S: Final = 0.05
_CHOICES: Final[dict[What, str]] = {
    "data": "a directory or a file here",
    "size": "the total size",
    "count": "a number of files of about one size",
    "unknown": "not known yet",
}
_PROFILED: Final[dict[Profiled, str]] = {
    "network": "only the network, from memory to memory: no file is touched",
    "tool": "a tool too, from disk to disk, with part of these files",
}
_OF_A_TOOL: Final = ("#field-tool", "#field-max-concurrency", "#keep", "#verify")
_MOST_AT_ONCE: Final = 128
_FIELDS: Final[dict[What, tuple[str, ...]]] = {
    "data": ("data",),
    "size": ("size",),
    "count": ("files", "each-size"),
    "unknown": (),
}


def _transfer_tool(text: str) -> None:
    from advisor import registry

    try:
        registry.transfer_tool(text)
    except registry.PluginMissing as error:
        raise ValueError(str(error)) from None


class WhatScreen(Step):
    """The amount of data, the sizes of its files, and what to profile."""

    NAME = "What"
    STEP = "what"
    HELP = (
        "[b]What[/b]\nWhat to move. It decides how long the transfer takes, and how many files "
        "should be moved at a time. Only names and sizes are read here, and nothing is changed. "
        "If you do not know yet, continue: the path can be measured without it.\nWhere a tool is "
        "profiled as well, part of the files is copied to the destination repeatedly; before it "
        "starts, the screen says what is written where."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f4", "scan", "Scan / cancel", id="scan"),
    ]
    DEFAULT_CSS = """
    WhatScreen RadioSet { width: auto; margin-bottom: 1; }
    WhatScreen #counted { height: auto; }
    WhatScreen .label { color: $text-muted; margin-top: 1; }
    WhatScreen #profiled { margin-bottom: 0; }
    WhatScreen #about-profiled { height: auto; color: $text-muted; }
    WhatScreen #about-profiled.-refused { color: $text-error; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._scan: Scan | None = None
        self._waiting: Timer | None = None
        self._drawn: object = None
        self._said = ""

    def content(self) -> Iterable[Widget]:
        """The fields for the dataset, the command lines, and profiling."""
        draft = self.advisor.draft
        yield ChoiceSet(
            *(Choice(word, draft.what == what, id=what) for what, word in _CHOICES.items()),
            compact=True,
            id="what",
        )
        yield from self._amounts(draft)
        yield Static(id="counted")
        yield FileHistogram(id="sizes")
        yield Static("For the command lines", classes="label")
        yield Field(
            "Goes to",
            "to",
            draft,
            example="path on the destination, as in /scratch/me/run7/",
            explained="The path of the files on the destination. Without it the command lines "
            "have a placeholder in capitals.",
        )
        yield Field(
            "GridFTP server",
            "server",
            draft,
            check=parse_server,
            example="as in gsiftp://dtn02.example.org:2811",
            explained="The destination's GridFTP server, where the tool uses one. Your site's "
            "documentation names it.",
        )
        yield from self._to_profile(draft)

    def _to_profile(self, draft: Draft) -> Iterable[Widget]:
        yield Static("What is profiled", classes="label")
        choices = ChoiceSet(
            *(Choice(word, draft.profiled == one, id=one) for one, word in _PROFILED.items()),
            compact=True,
            id="profiled",
        )
        choices.border_title = "What is profiled"
        yield choices
        yield Static(id="about-profiled")
        yield Field(
            "Tool",
            "tool",
            draft,
            check=_transfer_tool,
            example=moving_tool(),
            explained="What moves the files in each probe. It must be installed here, and its "
            "server, where it has one, must run over there.",
        )
        yield Field(
            "Files at once",
            "max_concurrency",
            draft,
            check=whole_number(1, _MOST_AT_ONCE),
            example="16 at most",
            explained="How many files the tool may move at a time. Some sites ask for few.",
        )
        yield Tick(
            "Keep files that arrive complete: they need not be moved again",
            draft.keep,
            "Files that arrive complete in the probes are put in their place, and stay. "
            "Everything else that was written there is removed; without this, everything is.",
            id="keep",
        )
        yield Tick(
            "Let the tool compare checksums",
            draft.verify,
            "The command line, and each probe, reads the written data again and compares "
            "checksums of both sides. That time is then part of the measurement.",
            id="verify",
        )

    def _amounts(self, draft: Draft) -> Iterable[Field]:
        yield Field(
            "Path",
            "data",
            draft,
            check=existing_path,
            example="/data/run7",
            explained="A directory or a file on this host. It is counted in the background.",
            suggester=PathSuggester(),
        )
        yield Field("Size", "size", draft, check=parse_size, example="as in 10TB")
        yield Field("Files", "files", draft, check=parse_count, example="how many, as in 200000")
        yield Field("Each", "each_size", draft, check=parse_size, example="as in 4MB")

    def on_mount(self) -> None:
        self._show_fields()
        self.every(_REDRAW_S, self._draw)

    def on_screen_resume(self, _: ScreenResume) -> None:
        for field in self.query(Field):
            field.refill()
        self._scan_soon()
        self._draw()

    def on_unmount(self) -> None:
        if self._scan:
            self._scan.give_up()

    def on_radio_set_changed(self, event: RadioSet.Changed) -> None:
        """Show the fields of the chosen option."""
        if event.radio_set.id == "profiled":
            self.advisor.draft.profiled = cast(Profiled, event.pressed.id)
        else:
            self.advisor.draft.what = cast(What, event.pressed.id)
            self._scan_soon()
        self._show_fields()
        self._draw()

    def on_checkbox_changed(self, event: Checkbox.Changed) -> None:
        """Store it at once, as texts are."""
        setattr(self.advisor.draft, event.checkbox.id or "", event.value)
        self._draw()

    def _show_fields(self) -> None:
        shown = _FIELDS[self.advisor.draft.what]
        for name in (name for names in _FIELDS.values() for name in names):
            self.query_one(f"#field-{name}").display = name in shown
        for one in _OF_A_TOOL:
            self.query_one(one).display = bool(self.advisor.draft.tool_name)

    def on_field_changed(self, changed: Field.Changed) -> None:
        """Scan a changed path after typing pauses."""
        if changed.field.id == "field-data":
            self._forget_scan()
            self._scan_soon()
        self._draw()

    def _forget_scan(self) -> None:
        if self._scan:
            self._scan.give_up()
        self._scan = None
        self.advisor.draft.scanned = None

    def _scan_soon(self) -> None:
        if self._waiting:
            self._waiting.stop()
        self._waiting = self.set_timer(_AFTER_LAST_KEY_S, self._scan_if_new)

    def _scan_if_new(self) -> None:
        draft = self.advisor.draft
        if draft.what != "data" or draft.scanned or self._scan:
            return
        self._begin_scan()

    def _begin_scan(self) -> None:
        field = self.query_one("#field-data", Field)
        if field.text and not field.problem:
            self._scan = Scan(field.text)
            self._run_scan(self._scan)
            self._draw()

    @work(thread=True, group="scan")
    def _run_scan(self, scan: Scan) -> None:
        scan.run(lambda over: self.app.call_from_thread(self._scan_over, over))

    def _scan_over(self, scan: Scan) -> None:
        if scan is not self._scan:
            return
        if scan.progress and scan.progress.finished:
            try:
                self.advisor.draft.scanned = scan.progress.dataset()
            except ValueError as error:
                scan.trouble = str(error)
        self._draw()

    def action_scan(self) -> None:
        """Cancel the running scan, or scan again."""
        if self.advisor.draft.what != "data":
            self.advisor.refuse("there is nothing to scan: choose 'a directory or a file here'")
        elif self._scan and not self._scan.is_over:
            self._scan.give_up()
        else:
            problem = self.query_one("#field-data", Field).problem
            if problem or not self.advisor.draft.data.strip():
                self.advisor.refuse(problem or "type the path of what is to be moved first")
                return
            self._forget_scan()
            self._begin_scan()

    def _dataset(self) -> Dataset | None:
        try:
            return self.advisor.draft.dataset()
        except ValueError:
            return None

    def _draw(self) -> None:
        """Draw what is known, if it changed."""
        self._say_what_is_profiled()
        progress = self._scan.progress if self._scan and self._counts_a_path() else None
        dataset = self._dataset()
        rate_bps, rtt_s, assumed = _path_words(self.advisor.draft)
        words = self._words(dataset, rate_bps)
        now = (words, progress, dataset, rate_bps, rtt_s)
        if now == self._drawn:
            return
        self._drawn = now
        sizes = dataset.sizes if dataset else progress.sizes if progress else ()
        bdp_bytes = rate_bps * rtt_s / 8
        if sizes and assumed:
            words += f"\nClasses of size for {assumed}."
        self.query_one("#counted", Static).update(Content(words))
        self.query_one("#sizes", FileHistogram).show(
            classify(of_bins(sizes), bdp_bytes), bdp_bytes, self.advisor.drawing
        )

    def _say_what_is_profiled(self) -> None:
        """Say what the tool still needs, else what it will do."""
        draft = self.advisor.draft
        reason = draft.why_no_tool()
        about = self.query_one("#about-profiled", Static)
        about.display = bool(draft.tool_name)
        about.set_class(bool(reason), "-refused")
        words = f"✗ {reason}" if reason else _what_a_tool_does(draft)
        if words != self._said:
            self._said = words
            about.update(Content(words))

    def _counts_a_path(self) -> bool:
        return self.advisor.draft.what == "data"

    def _words(self, dataset: Dataset | None, rate_bps: float) -> str:
        if self.advisor.draft.what == "unknown":
            return "· The path can be measured without it; the duration is then unknown."
        lines = [self._scan_words()] if self._counts_a_path() else []
        if dataset and dataset.files and not self._counts_a_path():
            lines.append(f"{dataset.files:,} files, {_amount(dataset.total_bytes)} in all")
        if dataset:
            least_s = dataset.total_bytes * 8 / rate_bps
            lines.append(
                f"At {format_rate(rate_bps)} that takes {format_duration(least_s)} at the least."
            )
        return "\n".join(line for line in lines if line)

    def _scan_words(self) -> str:
        """The progress of the scan, or its result."""
        scan, kept = self._scan, self.advisor.draft.scanned
        if kept:
            unread = f", {kept.unreadable:,} could not be read" if kept.unreadable else ""
            return f"✓ {kept.files or 0:,} files, {_amount(kept.total_bytes)}{unread}"
        if scan is None:
            return ""
        if scan.trouble:
            return f"✗ {scan.trouble}"
        found = scan.progress
        counted = f"{found.files:,} files, {_amount(found.total_bytes)}" if found else "nothing yet"
        if scan.was_given_up:
            return f"✗ given up at {counted}: F4 scans again, or enter the size"
        return f"… counting: {counted} so far (F4 cancels)"

    def why_not_next(self) -> str:
        """Entries must be valid; a scan may continue in the background."""
        if problem := first_problem(list(self.query(Field))):
            return problem
        draft = self.advisor.draft
        fields = (self.query_one(f"#field-{name}", Field) for name in _FIELDS[draft.what])
        if not all(field.text for field in fields):
            return "enter how much there is, or choose 'not known yet'"
        return draft.why_no_tool()


def _what_a_tool_does(draft: Draft) -> str:
    seen = draft.path_seen
    budget_s = default_budget_s(seen.path.rtt_s if seen else 0.0, files=True)
    after = "what arrives complete stays, the rest is removed" if draft.keep else "removed again"
    return (
        f"· In each probe part of the files is copied next to {draft.to.strip()}: {after}. Both "
        f"disks are measured with test files. It takes {format_duration(budget_s)} unless you "
        "change it in step History."
    )


def _amount(total_bytes: int) -> str:
    return format_bytes(total_bytes) if total_bytes else "0 B"


def _path_words(draft: Draft) -> tuple[float, float, str]:
    """The path's rate in bit/s, its RTT in seconds, and in words which of them are assumed."""
    if (seen := draft.path_seen) and not is_loopback(seen.path):
        rate_bps, rtt_s = wanted_bps(seen.path), seen.path.rtt_s
    else:
        rate_bps, rtt_s = _USUAL_BPS, _USUAL_RTT_S
    try:
        rate_bps = parse_rate(draft.bandwidth) if draft.bandwidth.strip() else rate_bps
        rtt_s = parse_duration(draft.rtt) if draft.rtt.strip() else rtt_s
    except ValueError:
        pass  # The previous step reports what is wrong with it.
    known = "this path" if draft.path_seen else "a path not checked yet"
    return rate_bps, rtt_s, f"{known}: {format_rate(rate_bps)} × {format_duration(rtt_s)}"
