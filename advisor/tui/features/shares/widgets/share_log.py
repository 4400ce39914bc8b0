"""The log of a transfer to several destinations, one line per event."""

from collections.abc import Iterator

from advisor.domain import events as ev
from advisor.report.share_run import destination_ended_line, seen_line
from advisor.tui.features.shares.shares_model import LoggedShares, SharesModel
from advisor.tui.kit.panels.line_log import LineLog
from advisor.tui.kit.sentences import count_words
from advisor.tui.kit.times import moment_words


class ShareLog(LineLog):
    """`show` a model."""

    HELP = (
        "[b]What happened[/b]\nA line for each change of files at a time, with the control epoch "
        "after which it was made and in brackets why; for each destination that came to its end; "
        "and for what else there is to know. Arrows scroll."
    )

    def on_mount(self) -> None:
        self.set_title("Events")

    def show(self, model: SharesModel) -> None:
        """Show all that is known."""
        self.fill(tuple(model.log), share_log_lines(model))


def share_log_lines(model: SharesModel) -> Iterator[str]:
    """The oldest first."""
    for at_s, event in model.log:
        yield f"{moment_words(at_s):>12}  {_event_words(event)}"


def _event_words(event: LoggedShares) -> str:
    match event:
        case ev.SharesSeen():
            return seen_line(event).strip()
        case ev.SharesChanged():
            return f"epoch {event.epoch}: {changes_words(event)} ({event.reason})"
        case ev.DestinationEnded():
            return destination_ended_line(event).strip()
        case ev.Notice():
            return event.message


def changes_words(event: ev.SharesChanged) -> str:
    """Only the changes; all concurrencies are shown beside the bars."""
    changes = [
        f"{name} {count_words(new, 'file')} instead of {event.old.get(name, 0)}"
        for name, new in event.new.items()
        if new != event.old.get(name, 0)
    ]
    return ", ".join(changes)
