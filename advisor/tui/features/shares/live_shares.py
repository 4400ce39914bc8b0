"""The transfer to several destinations: its process and its model."""

from collections.abc import Sequence

from advisor.tui.features.shares.shares_model import SharesModel
from advisor.tui.kit.commands.live_run import LiveRun


class LiveShares(LiveRun[SharesModel]):
    """Started with the arguments of `advisor share plan --run`."""

    name = "transfer"

    def __init__(self, arguments: Sequence[str]) -> None:
        super().__init__(arguments, SharesModel())
