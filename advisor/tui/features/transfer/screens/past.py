"""A past tuned transfer: its charts, from its events."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget

from advisor.domain.events import AnyEvent, EpochEnded
from advisor.store.session_digests import SessionDigest
from advisor.tui.features.history.screens.session import session_lines
from advisor.tui.features.transfer.end_texts import fulfilment_line
from advisor.tui.features.transfer.transfer_model import TransferModel
from advisor.tui.features.transfer.widgets.transfer_view import TRANSFER_PANELS, TransferView
from advisor.tui.kit.panels.field_group import FieldGroup
from advisor.tui.kit.static import Static
from advisor.tui.page import Page, past_trail


class PastTransferScreen(Page):
    """Opened from Review. `session`: its entry in the list; `events`: its own."""

    NAME = "Past transfer"
    HELP = (
        "[b]A past transfer[/b] that tuned itself while it ran: above its throughput, below the "
        "files at a time and the streams for each, with the log. If its events were not stored, "
        "as for an imported one, it is derived from the stored control epochs: without the "
        "method's reasons, the external load, and the seconds in which the work ran out."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(str(n), f"enlarge('{name}')", f"Only: {name}", show=False)
            for n, name in enumerate(TRANSFER_PANELS, 1)
        ),
        Binding("0", "enlarge('')", "All panels", show=False),
        Binding("n", "panel(1)", "Next panel", id="next-panel"),
        Binding("N", "panel(-1)", "Panel before", show=False),
    ]
    DEFAULT_CSS = """
    PastTransferScreen #body { overflow-y: hidden; }
    PastTransferScreen #about { height: auto; }
    """

    def __init__(self, session: SessionDigest, events: Sequence[AnyEvent]) -> None:
        super().__init__()
        self._session = session
        self._model = TransferModel(events)
        self._epochs = sum(isinstance(event, EpochEnded) for event in events)

    def trail(self) -> Content:
        return past_trail(self._session.session)

    def content(self) -> Iterable[Widget]:
        started, ended = self._model.started, self._model.ended
        method = started.method if started else self._session.method
        end = f": {ended.message}" if ended else ""
        tuned = f"Tuned by {method}, {self._epochs} epochs{end}."
        lines = [*session_lines(self._session), Content(tuned)]
        if ended and ended.advised:
            lines.append(Content(fulfilment_line(ended.advised).plain))
        yield FieldGroup("Session", Static(Content("\n").join(lines), id="about"))
        yield TransferView(id="view")

    def on_mount(self) -> None:
        self.query_one(TransferView).show(self._model)

    def action_enlarge(self, panel: str) -> None:
        self.query_one(TransferView).enlarge(panel)

    def action_panel(self, by: int) -> None:
        self.query_one(TransferView).next_panel(by)
