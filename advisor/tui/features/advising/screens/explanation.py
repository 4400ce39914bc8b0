"""An explanation of the session screen in plain words, with its numbers."""

from collections.abc import Iterable
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen

from advisor.domain.events import FilesPlanned
from advisor.domain.quantities import format_duration, format_rate
from advisor.report.lines import files_lines
from advisor.traits import describe, subject_name, transports
from advisor.tui.features.advising.session_model import SessionModel, StageModel
from advisor.tui.features.advising.widgets.legend import DISK_MARKS, FAILED, roles
from advisor.tui.features.advising.widgets.stop_gauges import gauge_lines
from advisor.tui.kit.static import Static

_MOVES_SHOWN: Final = 4


class WhatIsThisScreen(ModalScreen[None]):
    """Explains the session as it was when it was opened."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,w,q,enter", "dismiss", "Close", id="close")
    ]
    DEFAULT_CSS = """
    WhatIsThisScreen { align: center middle; }
    WhatIsThisScreen > VerticalScroll {
        width: 78; max-width: 96%; height: auto; max-height: 92%;
        background: $surface; border: round $focus; padding: 0 1;
    }
    """

    def __init__(self, model: SessionModel) -> None:
        super().__init__()
        self._words = explain(model)

    def compose(self) -> ComposeResult:
        with VerticalScroll() as box:
            box.border_title = "What am I looking at?"
            box.border_subtitle = "escape closes"
            yield Static(Text(self._words))


def explain(model: SessionModel) -> str:
    """The explanation, in markup."""
    return "\n\n".join(
        [
            _what_happens(model),
            _numbers(model),
            _marks(model),
            _panels(),
            _what_to_press(),
            *_method(model),
        ]
    )


def _what_happens(model: SessionModel) -> str:
    pair = (
        f"from {model.pair.source} to {model.pair.destination}"
        if model.pair
        else "to the other host"
    )
    if model.files:
        return "\n".join([_what_happens_to_files(model.files, pair), *files_lines(model.files)])
    return (
        f"The advisor sends generated data {pair}, a few seconds at a time, each time with "
        "another setting. Each such short transfer is a probe. Your files and disks are not "
        "touched. From what the receiver got it works out which setting to try next."
    )


def _what_happens_to_files(plan: FilesPlanned, pair: str) -> str:
    alone = (
        "the network alone, and each disk alone, to see which of them limits the transfer"
        if plan.destination
        else "your disk alone, to see whether it limits the transfer"
    )
    return (
        f"The advisor moves part of your files {pair} with {plan.tool}, or all of them if that "
        "takes seconds, each time with another setting; each such transfer is a probe. Before that "
        f"it measures {alone}. Your own files are only read."
    )


def _numbers(model: SessionModel) -> str:
    probes = [p for p in model.probes if p.ended_s is not None]
    failed = sum(p.throughput_bps is None for p in probes)
    words = [f"So far: {len(probes)} probes" + (f", {failed} of them failed." if failed else ".")]
    default_bps = model.default_bps
    if model.best:
        best = model.best
        words.append(
            f"The best gave {format_rate(best.throughput_bps)} "
            f"({describe(best.subject, best.setting)})."
        )
        if model.files:
            words.append("That is for all of your files, including start-up and end.")
        elif default_bps:
            words.append(
                f"Without tuning you would get {format_rate(default_bps)}: "
                f"{best.throughput_bps / default_bps:.2g} times less."
                if best.throughput_bps > default_bps * 1.05
                else "Without tuning you get about the same."
            )
    if not model.is_over and model.budget_s:
        words.append(f"{format_duration(round(model.left_now_s) or 0)} are left.")
    words.append("Values that differ by less than their error bars count as equal.")
    return " ".join(words)


def _marks(model: SessionModel) -> str:
    first, *others = map(subject_name, transports())
    other = model.files.tool if model.files else " and ".join(others)
    lines = [f"  {r.full} {r.hollow}  {r.name}: {r.meaning}" for r in roles()]
    lines.append("  The charts show the steps of a method with the marks of search.")
    if model.files:
        lines += [f"  {mark}    {disk}: {meaning}" for disk, (mark, meaning) in DISK_MARKS.items()]
    lines.append(f"  {FAILED}    failed: it counts as an answer, the search continues")
    return "\n".join([f"Marks (full for {first}, hollow for {other}):", *lines])


def _panels() -> str:
    return (
        "1 Probes: each at its time, with ± one standard error. The dashed lines are the best so "
        "far and the default; the vertical one is now.\n2 Now: what the receiver of the present "
        "probe gets. Transfers start slowly: only the steady part counts.\n3 The map: every cell "
        "is a range of settings, the greener the faster. Numbers are those of the probes, dots "
        "the path of the search. It shows the range that was probed, on logarithmic scales.\n"
        "4 Why: what the present probe is for, and what made a difference.\n5 Boxes: for each "
        "number of flows (connections at once), or of threads on a disk, the median of all its "
        "probes, and the box in which half of them lie.\n6 Ranking: the settings, best first."
    )


def _what_to_press() -> str:
    return (
        "You need not do anything. space pauses, s skips the present search, e adds 30 s, t "
        "tries a setting of your choice, x stops with the best so far. p shows what past "
        "transfers predict, if the method consults them. You can leave the screen: it continues."
    )


def _method(model: SessionModel) -> Iterable[str]:
    """The method's own words: its state, its conditions for stopping, and its reasons."""
    lines = [f"Session {model.session}, method {model.method}"]
    if (stage := model.stage) is None:
        return ["\n".join(lines)]
    rounds = f", round {stage.iteration + 1}" if stage.space else ""
    lines.append(f"  search {stage.name}{rounds}{_share_words(model, stage)}")
    if stage.reason:
        lines.append(f"  ended: {stage.reason}")
    if stage.gauges:
        lines += ["It stops when a bar is full:", *gauge_lines(model.method, stage.gauges)]
    moves = [(one.name, why) for one in model.stages for _, why in one.moves][-_MOVES_SHOWN:]
    if moves:
        lines.append("Its reasons, newest first:")
        lines += [f"  {name}: {why}" for name, why in reversed(moves)]
    return ["\n".join(lines)]


def _share_words(model: SessionModel, stage: StageModel) -> str:
    if not stage.budget_s:
        return ""
    spent_s = (stage.ended_s or model.at_s) - stage.began_s
    share_s = format_duration(round(stage.budget_s, 1))
    return f", {format_duration(round(max(spent_s, 0.0), 1))} of its {share_s}"
