"""The line of one measured transfer, and its list of files."""

import posixpath
from typing import Final

from advisor.api.command_line import quoted_line, roots_of
from advisor.api.flow_space import processes_for
from advisor.api.tool import Step, TransferOrder

from .known import Server
from .options import made_first, options_of, remote_shell
from .reader import FORMAT

_SEVERAL: Final = (
    r'rm -f "$2".* && split -n r/{processes} "$2" "$2." && printf -- "--files-from=%s\0" "$2".* | '
    r'xargs -0 -P {processes} -n 1 {rsync} "$0" "$1"'
)
_PROVEN: Final = ("-s", "--whole-file", "--ignore-times", "--inplace", "--no-implied-dirs")
"""Whatever is there is replaced, under its own name at once: no other name remains when rsync is
ended. Folders get their permissions from who has started it, who compares the content too."""

_LOGIN_BYTES: Final = 8192
"""OpenSSH 9.2 sends 4 to 6 KB until rsync runs there, which then gets the names of the files."""


def steps_for(order: TransferOrder, server: Server) -> list[Step]:
    """One program, on the source. Raises ValueError for what rsync cannot move."""
    if not all(piece.is_whole for piece in order.pieces):
        raise ValueError("rsync moves whole files, no ranges of one")
    source, target = roots_of(order.pieces, "rsync")
    if not source:
        [piece] = order.pieces
        rsync = _rsync(order, server, posixpath.dirname(piece.target))
        return [_step([*rsync, piece.source, server.place(piece.target)], None)]
    rsync = _rsync(order, server, target)
    # The largest first: dealt in turn, every process gets about as many bytes.
    pieces = sorted(order.pieces, key=lambda piece: -piece.size_bytes)
    # Without "./", rsync takes "#x" and ";x" for comments.
    names = [f"./{piece.source[len(source) :].lstrip('/')}" for piece in pieces]
    text = "".join(f"{name}\n" for name in names)
    place = server.place(target.rstrip("/") + "/")
    processes = processes_for(order.setting, len(pieces))
    if processes == 1:
        return [_step([*rsync, "--files-from", order.list_file, source, place], text)]
    script = _SEVERAL.format(processes=processes, rsync=quoted_line(rsync))
    return [_step(["sh", "-c", script, source, place, order.list_file], text)]


def _rsync(order: TransferOrder, server: Server, target: str) -> list[str]:
    """The command of each process, up to the list of files. `target`: the folder they go to."""
    # While one process ends, others still write to its folders.
    options = [*_PROVEN] if order.is_proven else [*options_of(order.setting), "--chmod=Du+w"]
    options += ["--copy-links"] if order.follows_links else []
    options += ["--rsync-path", made_first(target)]
    shell = remote_shell(server, order.setting, order.path.bound_address)
    if "BatchMode" not in shell:
        shell += " -o BatchMode=yes"
    options += [] if order.for_user else ["--out-format", FORMAT]
    # Otherwise what the other side says may be lost: an rsync that fails kills its ssh. Versions
    # that know --mkpath know this too, and older ones need nothing.
    options += ["--stderr=client"] if server.makes_parents else []
    return ["rsync", *options, "-e", shell]


def _step(argv: list[str], list_text: str | None) -> Step:
    return Step(
        side="source",
        argv=argv,
        list_text=list_text,
        as_login=True,
        by_children=True,
        login_bytes=_LOGIN_BYTES,
    )
