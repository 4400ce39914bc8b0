"""What happened in a transfer, a line each, the newest at the bottom."""

from collections.abc import Iterator

from advisor.domain import events as ev
from advisor.domain.quantities import format_bytes
from advisor.report.transfer import changed_line
from advisor.tui.moving_story import Logged, MovingStory
from advisor.tui.widgets.line_log import LineLog, moment_words
from advisor.tui.widgets.moving_curves import load_words


class MovingLog(LineLog):
    """`show` a story."""

    HELP = (
        "[b]What happened[/b]\nA line for each change of the setting: what the control epoch gave "
        "at the old one, the new one (files at a time × streams for each), and in brackets why the "
        "method goes there. Also what else there is to know. Arrows scroll."
    )

    def show(self, story: MovingStory) -> None:
        """All that is known of it."""
        self.fill((*story.log, story.ended), log_lines(story))


def log_lines(story: MovingStory) -> Iterator[str]:
    """The oldest first; at the end what could not be moved."""
    for at_s, event in story.log:
        yield f"{moment_words(at_s):>12}  {_words(event)}"
    if story.ended:
        yield from (f"{'missing':>12}  {line}" for line in story.ended.missing)
        more = story.ended.missing_files - len(story.ended.missing)
        if more > 0:
            yield f"{'missing':>12}  and {more} more"


def _words(event: Logged) -> str:
    match event:
        case ev.SettingChanged():
            return changed_line(event).strip()
        case ev.EpochEnded():
            return f"epoch {event.epoch}: {event.failure}"
        case ev.LoadChanged():
            return load_words(event)
        case ev.TransferStarted():
            return f"goes on: {format_bytes(event.earlier_bytes)} had arrived before"
        case ev.Notice():
            return event.message
