"""The advice session under way: its process and its model."""

from collections.abc import Sequence

from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.kit.commands.live_run import LiveRun


class LiveSession(LiveRun[SessionModel]):
    """A session, started with the arguments of `advisor advise` or `resume`."""

    name = "session"

    def __init__(self, arguments: Sequence[str]) -> None:
        super().__init__(arguments, SessionModel())
