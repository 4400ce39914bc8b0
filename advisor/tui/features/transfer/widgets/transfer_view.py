"""The view of a tuned transfer, live or past: throughput, setting, and log over one time axis.

Laid out as figures 5, 6 and 8 of Balaprakash et al. (2016): one time axis, vertical lines where the
external load changed.
"""

from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.containers import Vertical

from advisor.tui.features.transfer.texts import rate_words, short_setting
from advisor.tui.features.transfer.transfer_model import TransferModel
from advisor.tui.features.transfer.widgets.transfer_curves import (
    Clock,
    advised_levels,
    clock_of,
    load_marks,
    setting_series,
    throughput_series,
)
from advisor.tui.features.transfer.widgets.transfer_log import TransferLog
from advisor.tui.kit.charts.chart import Chart
from advisor.tui.kit.panels.panel_view import PanelView
from advisor.tui.kit.panels.titled import Titled

TRANSFER_PANELS: Final = ("throughput", "setting", "log")
"""In order of their numbers, from 1."""

_TITLES: Final = {
    "throughput": "Throughput at the destination",
    "setting": "Setting",
    "log": "What happened",
}

_BOTH_CHARTS_FROM: Final = 20
_LOG_BELOW_FROM: Final = 24
_LOG_BESIDE_FROM: Final = 150


class TransferView(PanelView):
    """`show` a model as often as you like: only changes are redrawn."""

    NAMES = TRANSFER_PANELS
    HELP: ClassVar[str | None] = """[b]The transfer[/b]
1 throughput · 2 the setting: files at a time, and streams for each · 3 what happened.
The numbers show one of them alone, 0 shows all again, as far as there is room. Both charts have the
same time axis: the throughput changes after a step of the setting because of it, or because of an
external load; a known one is marked by a vertical line. A dashed line is the advised throughput."""
    DEFAULT_CSS = """
    TransferView { height: 1fr; layout: vertical; }
    TransferView > Vertical { height: 1fr; }
    TransferView #throughput { height: 5fr; }
    TransferView #setting { height: 4fr; }
    TransferView > #log { display: none; height: 8; }
    TransferView.log-below > #log { display: block; }
    TransferView.log-beside { layout: horizontal; }
    TransferView.log-beside > Vertical { width: 1fr; }
    TransferView.log-beside > #log { display: block; width: 56; height: 1fr; margin-left: 1; }
    TransferView.alone { layout: vertical; }
    TransferView.alone .panel, TransferView.log-alone > Vertical { display: none; }
    TransferView.alone .panel.chosen, TransferView.alone > #log.chosen {
        display: block; height: 1fr; width: 1fr; margin: 0;
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # as every widget has it
        super().__init__(id=id)
        self._model: TransferModel | None = None
        self._drawn = -1

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Chart(id="throughput", classes="panel")
            yield Chart(unit="at once", id="setting", classes="panel")
        yield TransferLog(id="log", classes="panel")

    @property
    def _is_single(self) -> bool:
        return self.size.height < _BOTH_CHARTS_FROM

    def _arrange(self) -> None:
        super()._arrange()
        alone = self._is_alone
        beside = self.size.width >= _LOG_BESIDE_FROM
        below = self.size.height >= _LOG_BELOW_FROM and not beside
        self.set_class(alone and self._chosen == "log", "log-alone")
        self.set_class(beside and not alone, "log-beside")
        self.set_class(below and not alone, "log-below")
        self._show_titles()

    def _show_titles(self) -> None:
        model = self._model
        more = " (n: more)" if self._is_alone else ""
        values = {
            "throughput": rate_words(model) if model else "",
            "setting": short_setting(model.setting) if model else "",
        }
        for name, title in _TITLES.items():
            panel = self.query_one(f"#{name}", Titled)
            panel.set_title(f"{title}{more}", values.get(name, ""))

    def show(self, model: TransferModel) -> None:
        """Show the present state of the model."""
        if model is self._model and model.version == self._drawn:
            return
        clock = clock_of(model)
        if model is not self._model:
            self._model = model
            for chart in self.query(Chart):
                chart.restart()
        self._drawn = model.version
        self._show_titles()
        self._show_throughput(model, clock)
        self._show_setting(model, clock)
        self.query_one(TransferLog).show(model)

    def _show_throughput(self, model: TransferModel, clock: Clock) -> None:
        self.query_one("#throughput", Chart).show(
            throughput_series(model, clock),
            advised_levels(model),
            verticals=load_marks(model, clock),
            x_label=clock.word,
            y_label="throughput",
            x_range=(0.0, clock.end),
        )

    def _show_setting(self, model: TransferModel, clock: Clock) -> None:
        self.query_one("#setting", Chart).show(
            setting_series(model, clock),
            verticals=load_marks(model, clock),
            x_label=clock.word,
            y_label="setting",
            x_range=(0.0, clock.end),
        )
