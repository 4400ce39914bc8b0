"""The line of one measured transfer: started from the source by ssh, as aria2c fetches."""

import posixpath
from typing import Final

from advisor.api.command_line import why_not_listed
from advisor.api.tool import SourceServer, Step, TransferOrder

from .known import Server, at_destination, ssh_words
from .options import NOTHING_ELSE, options_of

_MEASURED: Final = (
    *("--no-conf=true", "--allow-overwrite=true", "--auto-file-renaming=false"),
    # Ends at the first refusal, so that it is seen.
    *("--max-tries=1", "--enable-color=false", "--show-console-readout=false"),
)
_FROM_LIST: Final = 'exec "$@" <"$0"'


def why_not(name: str) -> str:
    """Why a file cannot be in the list of URLs under its own name; "" if it can."""
    if name != name.rstrip():
        return "aria2c leaves out spaces at the end of a name: rename it"
    return why_not_listed(name)


def steps_for(order: TransferOrder, server: Server) -> list[Step]:
    """One program, on the source. Raises ValueError for what aria2c cannot fetch."""
    if not all(piece.is_whole for piece in order.pieces):
        raise ValueError("aria2c fetches whole files, no ranges of one")
    for piece in order.pieces:
        if why := why_not(piece.target):
            raise ValueError(f"{piece.target[:40]}: {why}")
    options = [*_MEASURED, *NOTHING_ELSE, *options_of(order.setting, several=True)]
    folder = posixpath.commonpath([posixpath.dirname(piece.target) for piece in order.pieces])
    there = at_destination(options, folder)
    # The largest first, as in the line.
    pieces = sorted(order.pieces, key=lambda piece: -piece.size_bytes)
    listed = "".join(
        f"{server.address(one.source)}\n  out=./{posixpath.relpath(one.target, folder)}\n"
        for one in pieces
    )
    return [
        Step(
            side="source",
            argv=["sh", "-c", _FROM_LIST, order.list_file, *ssh_words(server.login), there],
            list_text=listed,
            as_login=True,
            fetched_from=SourceServer(server.port, order.path.destination_address),
        )
    ]
