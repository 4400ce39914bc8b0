"""Box plots: throughput and its scatter by the number of flows."""

from textual.content import Content

from advisor.domain.quantities import format_rate, format_rates
from advisor.domain.space import Setting
from advisor.traits import subject_name
from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.features.advising.widgets.boxes import Box, box_series, boxes_of, place_of
from advisor.tui.features.advising.widgets.legend import colour_of
from advisor.tui.kit.charts.chart import Chart

_MOST_IN_WORDS = 12


class FlowBoxes(Chart):
    """`show_model` a session's probes of one subject, or `show_boxes` of others."""

    def __init__(
        self,
        *,
        id: str | None = None,  # noqa: A002  # as every widget of Textual has it
        classes: str | None = None,
    ) -> None:
        super().__init__("Boxes by flows", id=id, classes=classes)
        self._boxes: list[Box] = []
        self._subject = ""

    def show_model(self, model: SessionModel, subject: str) -> None:
        """Draw the boxes of this subject."""
        if subject != self._subject:
            self._subject = subject
            self.restart()
        setting = next((p.setting for p in model.probes if p.subject == subject), {})
        self.show_boxes(
            subject_name(subject), boxes_of(model, subject), colour_of(subject), setting
        )

    def show_boxes(self, title: str, boxes: list[Box], colour: str, setting: Setting) -> None:
        """Draw these. `setting`: one of those measured, which shows what is counted."""
        self._boxes = boxes
        counted = counted_words(setting)
        self.set_title(f"{title} by {counted.partition(' ')[0]}")
        self.show(
            box_series(self._boxes, colour),
            x_label=counted,
            y_label="throughput",
            x_range=(0.0, float(max(len(self._boxes), 1))),
            x_ticks=[(place_of(i), str(box.at_once)) for i, box in enumerate(self._boxes)],
        )

    @property
    def HELP(self) -> Content:  # type: ignore[override]  # noqa: N802  # F1 looks for this name
        """An explanation of boxes, and the present ones as text."""
        said = [_box_words(box) for box in self._boxes[:_MOST_IN_WORDS]] or ["No probe yet."]
        if more := len(self._boxes) - len(said):
            said.append(f"… and {more} more." if more > 0 else "")
        return self.explained(
            "One box for each number of flows, over all probes with that many: a flow is one "
            "connection, files at a time × streams each. The line in the box is the median; "
            "half of the probes lie in the box, and the whiskers reach to the furthest "
            "within 1.5 box heights. The rings beside it are the single probes; fewer than "
            "three have no box. Boxes that overlap much do not differ significantly. For a "
            "tool it is the rate while files flow, without start-up and end.",
            *said,
        ).rstrip()


def counted_words(setting: Setting) -> str:
    """The label of the x axis."""
    if "threads" in setting:
        return "threads"
    return "flows (files × streams)" if "concurrency" in setting else "flows"


def _box_words(box: Box) -> str:
    times = "one probe" if len(box.rates_bps) == 1 else f"{len(box.rates_bps)} probes"
    middle = f", the middle half {format_rates(*box.quartiles_bps)}" if box.quartiles_bps else ""
    return f"{box.at_once}: {times}, median {format_rate(box.median_bps)}{middle}."
