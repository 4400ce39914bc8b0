"""What is tried, the best and the time left, where only one panel has room."""

from textual.content import Content

from advisor.domain.quantities import format_duration, format_rate
from advisor.traits import describe
from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.kit.static import Static


class SummaryLines(Static):
    """Two lines; `show` a model."""

    DEFAULT_CSS = """
    SummaryLines { height: 2; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    _shown = Content("")

    def show(self, model: SessionModel) -> None:
        """Update the lines, if they changed."""
        words = Content("\n").join([_now(model), _best(model)])
        if not words.is_same(self._shown):
            self._shown = words
            self.update(words, layout=False)


def _now(model: SessionModel) -> Content:
    """The time left, and the present setting."""
    left = format_duration(round(model.left_now_s) or 0)
    state = "done" if model.advice else "failed" if model.gave_up else f"{left} left"
    probe = model.present
    setting = describe(probe.subject, probe.setting) if probe else "the first probe is prepared"
    word = "Now " if model.running else "Last"
    return Content.assemble((f"{word} ", "bold"), f"{state}: {setting}")


def _best(model: SessionModel) -> Content:
    leader = model.leader
    if leader is None:
        return Content("")
    return Content.assemble(
        ("Best ", "bold $advised"),
        (format_rate(leader.throughput_bps), "bold $advised"),
        f": {describe(leader.subject, leader.setting)}",
    )
