"""The line of one measured transfer, and its list of commands."""

from typing import Final

from advisor.api.command_line import quoted_line
from advisor.api.tool import Step, TransferOrder

from .known import Store, s5cmd
from .options import parts, workers

_RETRIES: Final = "3"
"""A store may fail one request of many without a cause that lasts (status 500, or SlowDown). Of the
ten retries that are usual, the last ones wait for longer than a probe takes."""


def steps_for(order: TransferOrder, store: Store) -> list[Step]:
    """One program, on the source. Raises ValueError for what s5cmd cannot move."""
    if not all(piece.is_whole for piece in order.pieces):
        raise ValueError("s5cmd moves whole files, no ranges of one")
    copy = ["cp", "--raw", *parts(order.setting)]
    lines = (quoted_line([*copy, one.source, store.address(one.target)]) for one in order.pieces)
    reported = [] if order.for_user else ["--json", "--retry-count", _RETRIES]
    return [
        Step(
            side="source",
            argv=[*s5cmd(store, *reported, *workers(order.setting)), "run", order.list_file],
            list_text="".join(f"{line}\n" for line in lines),
            server_port=store.port,
            # The command of PyPI's package starts the program.
            by_children=True,
        )
    ]
