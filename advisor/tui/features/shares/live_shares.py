"""Files that are moved to several destinations now: the process, and its story."""

from collections.abc import Sequence

from advisor.tui.features.shares.shares_model import SharesModel
from advisor.tui.kit.live_run import LiveRun


class LiveShares(LiveRun[SharesModel]):
    """Started with the words of `advisor share plan --run`."""

    name = "transfer"

    def __init__(self, arguments: Sequence[str]) -> None:
        super().__init__(arguments, SharesModel())
