"""The log of a transfer, one line per event."""

from collections.abc import Iterator

from advisor.domain import events as ev
from advisor.domain.quantities import format_bytes
from advisor.report.transfer import changed_line
from advisor.tui.features.transfer.transfer_model import LoggedTransfer, TransferModel
from advisor.tui.features.transfer.widgets.transfer_curves import load_words
from advisor.tui.kit.panels.line_log import LineLog
from advisor.tui.kit.times import moment_words


class TransferLog(LineLog):
    """`show` a model."""

    HELP = (
        "[b]What happened[/b]\nA line for each change of the setting: what the control epoch "
        "gave at the old one, the new one (files at a time × streams for each), and in brackets "
        "why the method goes there. Also notices. Arrows scroll."
    )

    def show(self, model: TransferModel) -> None:
        """Show all that is known."""
        self.fill((*model.log, model.ended), transfer_log_lines(model))


def transfer_log_lines(model: TransferModel) -> Iterator[str]:
    """Lines, the oldest first; last what could not be moved."""
    for at_s, event in model.log:
        yield f"{moment_words(at_s):>12}  {_event_words(event)}"
    if model.ended:
        yield from (f"{'missing':>12}  {line}" for line in model.ended.missing)
        more = model.ended.missing_files - len(model.ended.missing)
        if more > 0:
            yield f"{'missing':>12}  and {more} more"


def _event_words(event: LoggedTransfer) -> str:
    match event:
        case ev.SettingChanged():
            return changed_line(event).strip()
        case ev.EpochEnded():
            return f"epoch {event.epoch}: {event.failure}"
        case ev.LoadChanged():
            return load_words(event)
        case ev.TransferStarted():
            return f"resumed: {format_bytes(event.earlier_bytes)} had arrived before"
        case ev.Notice():
            return event.message
