"""The line of one measured transfer, and its list of files."""

from collections.abc import Sequence
from typing import Final

from advisor.api.command_line import roots_of, shell_line
from advisor.api.tool import Step, TransferOrder

from .known import Server
from .options import is_as_typed, options_of, processes_for, remote_shell
from .reader import FORMAT

_SEVERAL: Final = (
    'export SHELL=/bin/sh FROM="$0" TO="$1"; split -n r/{processes} --filter={each} "$2"{then}'
)
_LAST_PASS: Final = '; exec {rsync} --files-from="$2" "$FROM" "$TO"'
"""As in the printed line, so that its time is measured too."""

_PROVEN: Final = ("-s", "--whole-file", "--ignore-times", "--inplace")
"""Whatever is there is replaced, under its own name at once: no other name remains when rsync is
ended. Who has started it compares the content."""


def steps_for(order: TransferOrder, server: Server) -> list[Step]:
    """One program, on the source. Raises ValueError for what rsync cannot move."""
    if not all(piece.is_whole for piece in order.pieces):
        raise ValueError("rsync moves whole files, no ranges of one")
    rsync = _rsync(order, server)
    source, target = roots_of(order.pieces, "rsync")
    if not source:
        [piece] = order.pieces
        return [_step([*rsync, piece.source, server.place(piece.target)], None)]
    # The largest first: dealt in turn, every process gets about as many bytes.
    pieces = sorted(order.pieces, key=lambda piece: -piece.size_bytes)
    # Without "./", rsync takes "#x" and ";x" for comments.
    names = [f"./{piece.source[len(source) :].lstrip('/')}" for piece in pieces]
    text = "".join(f"{name}\n" for name in names)
    place = server.place(target.rstrip("/") + "/")
    processes = processes_for(order.setting, len(pieces))
    if processes == 1:
        return [_step([*rsync, "--files-from", order.list_file, source, place], text)]
    script = _script(rsync, processes, has_last_pass=not order.is_proven)
    return [_step(["sh", "-c", script, source, place, order.list_file], text)]


def _rsync(order: TransferOrder, server: Server) -> list[str]:
    """The command of each process, up to the list of files."""
    options = options_of(order.setting, server)
    if order.is_proven:
        options = [*_PROVEN, *(option for option in options if option == "--mkpath")]
    if not is_as_typed(order.setting):
        options.append("--no-implied-dirs")
    shell = remote_shell(server, order.setting, order.path.bound_address)
    if "BatchMode" not in shell:
        shell += " -o BatchMode=yes"
    return ["rsync", *options, "--out-format", FORMAT, "-e", shell]


def _script(rsync: Sequence[str], processes: int, *, has_last_pass: bool) -> str:
    each = f'exec {shell_line(rsync)} --files-from=- "$FROM" "$TO"'
    last = [word for word in rsync if word != "--no-implied-dirs"]
    return _SEVERAL.format(
        processes=processes,
        each=shell_line([each]),
        then=_LAST_PASS.format(rsync=shell_line(last)) if has_last_pass else "",
    )


def _step(argv: list[str], list_text: str | None) -> Step:
    return Step(side="source", argv=argv, list_text=list_text, as_login=True, by_children=True)
