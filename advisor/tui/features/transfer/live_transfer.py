"""The tuned transfer under way: its process and its model."""

from collections.abc import Sequence

from advisor.tui.features.transfer.transfer_model import TransferModel
from advisor.tui.kit.commands.live_run import LiveRun


class LiveTransfer(LiveRun[TransferModel]):
    """A tuned transfer, started with the arguments of `advisor transfer`."""

    name = "transfer"

    def __init__(self, arguments: Sequence[str], model: TransferModel | None = None) -> None:
        """`model`: that of the previous run, when it is resumed."""
        super().__init__(arguments, model or TransferModel())
