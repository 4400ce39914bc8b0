"""Files that are moved to several destinations now: the process, and its story."""

from collections.abc import Sequence

from advisor.tui.running import LiveRun
from advisor.tui.shares_story import SharesStory


class LiveShares(LiveRun[SharesStory]):
    """Started with the words of `advisor share plan --run`."""

    name = "transfer"

    def __init__(self, arguments: Sequence[str]) -> None:
        super().__init__(arguments, SharesStory())
