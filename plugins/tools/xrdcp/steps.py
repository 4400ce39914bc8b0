"""The line of one measured transfer, and its list of files."""

import posixpath
from typing import Final

from advisor.api.command_line import roots_of
from advisor.api.flow_space import processes_for
from advisor.api.tool import Step, TransferOrder

from .known import AT_ONCE, NAME, PORT, Server
from .shares import DEAL, TIDY

_LISTED: Final = (
    f'd="$3.shares" && {TIDY} && '
    r'rm -rf "$d" && mkdir "$d" && tr "\n" "\0" <"$3" | ' + DEAL
)


def steps_for(order: TransferOrder, server: Server) -> list[Step]:
    """One program, on the source. Raises ValueError for what xrdcp cannot send."""
    if not all(piece.is_whole for piece in order.pieces):
        raise ValueError("xrdcp sends whole files, no ranges of one")
    if any("?" in piece.target for piece in order.pieces):
        raise ValueError("XRootD ends a name at a question mark: choose another target")
    source, target = roots_of(order.pieces, NAME)
    environment = [] if order.for_user else [*AT_ONCE]
    if len(order.pieces) == 1:
        [piece] = order.pieces
        # Whatever is there is replaced, under its own name at once.
        argv = [NAME, "-s", "-f", "-p", piece.source, server.place(piece.target)]
        return [_step([*environment, *argv], None, server)]
    above, name = posixpath.split(target.rstrip("/"))
    if not name:
        raise ValueError("xrdcp sends into no root directory: choose a folder below it")
    # The largest first: dealt in turn, every process gets about as many bytes.
    pieces = sorted(order.pieces, key=lambda piece: -piece.size_bytes)
    script = _LISTED.format(processes=processes_for(order.setting, len(pieces)))
    place = server.place(above.rstrip("/") + "/")
    argv = [*environment, "sh", "-c", script, name, source, place, order.list_file]
    return [_step(argv, "".join(f"{piece.source}\n" for piece in pieces), server)]


def _step(argv: list[str], list_text: str | None, server: Server) -> Step:
    return Step(
        side="source",
        argv=argv,
        list_text=list_text,
        server_port=server.port or PORT,
        by_children=True,
    )
