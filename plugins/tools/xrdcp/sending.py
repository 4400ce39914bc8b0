"""The lines that send to a server at the destination, with notes."""

import posixpath
from typing import Final

from advisor.api.command_line import buffer_note, command_of, congestion_note, only_note, path_notes
from advisor.api.flow_space import processes_for
from advisor.api.tool import CommandRequest
from advisor.api.values import Command, Setting

from .known import NAME, Server
from .shares import DEAL, TIDY

_XRDCP: Final = (NAME, "-f", "-p")

# Largest first, and dealt in turn, every process gets about as many bytes. Where `find` cannot look
# into a folder, nothing is sent: of a pipe its status would be lost.
_SEVERAL: Final = (
    f"d=$(mktemp -d) && {TIDY} && "
    r'find "$1" -type f -printf "%s %p\0" >"$d/.found" && sort -zrn "$d/.found" | '
    r'cut -zd" " -f2- | ' + DEAL
)


def joint_line(request: CommandRequest, setting: Setting, server: Server) -> Command:
    """For the setting that was measured from disk to disk with xrdcp itself."""
    return _line(request, setting, server, [])


def tcp_line(request: CommandRequest, setting: Setting, server: Server) -> Command:
    """For streams that were measured from memory to memory."""
    streams = int(setting["streams"])
    notes = [*buffer_note(request, setting, NAME), *congestion_note(request, setting, NAME)]
    if streams > 1 and not request.is_directory:
        notes.insert(0, f"Measured with {streams} streams; xrdcp sends a file over one connection.")
    return _line(request, {"concurrency": streams}, server, notes)


def _line(request: CommandRequest, setting: Setting, server: Server, notes: list[str]) -> Command:
    files = request.dataset.files if request.dataset else None
    processes = processes_for(setting, files) if request.is_directory else 1
    source, target = request.source.rstrip("/"), request.target.rstrip("/")
    above, name = posixpath.split(target)
    place = server.place(above.rstrip("/") + "/")
    # The tool itself keeps the name of a folder.
    simple = processes == 1 and posixpath.basename(source) == name
    if not request.is_directory:
        argv = [*_XRDCP, request.source, server.place(request.target)]
    elif simple:
        argv = [*_XRDCP, "-r", f"{source}/", place]
        notes = [*notes, "It follows symbolic links."]
    else:
        script = _SEVERAL.format(processes=processes)
        argv = ["sh", "-c", script, name, f"{source}/", place]
        notes = [*notes, "Symbolic links are left out."]
    before = [*only_note(request, NAME, "tcp"), *path_notes(request, argv)]
    if request.is_directory:
        before.append("Empty folders are left out.")
    if "?" in request.target:
        before.append("XRootD ends a name at a question mark: choose another target.")
    before.append("It compares no checksums; where the server computes them, --cksum adler32 does.")
    return command_of(NAME, "source", argv, [*before, *notes])
