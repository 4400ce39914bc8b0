"""The sentences of the screen of a running session. Pure."""

from advisor.domain.quantities import format_rate
from advisor.domain.space import Setting
from advisor.tui.features.advising.session_model import SessionModel, StageModel
from advisor.tui.features.advising.widgets.bins import Grid
from advisor.tui.kit.sentences import capitalised


def outcome_words(model: SessionModel) -> str:
    """The most important message; "" while everything is normal."""
    if model.gave_up:
        resumable = " r resumes it." if model.can_be_resumed else ""
        return (
            f"{capitalised(model.gave_up.message)}\n\nThe measurements "
            f"are stored.{resumable} ctrl+g, then Where, starts again."
        )
    if model.advice:
        found = format_rate(model.advice.expected_bps)
        return f"Done: about {found} to be expected. ctrl+n compares."
    if model.paused:
        return "Paused: nothing is sent and the clock is stopped. space resumes."
    return ""


def best_setting(model: SessionModel, stage: StageModel) -> Setting:
    """The best setting so far inside the space of this search; empty if there is none."""
    assert stage.space is not None
    box = Grid.fitting(stage.space, 1, 1)
    fitting = [p for p in model.probes if p.subject == stage.subject and box.cell_of(p.setting)]
    best = max(fitting, key=lambda p: p.throughput_bps or 0.0, default=None)
    return best.setting if best else {}
