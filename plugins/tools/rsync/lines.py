"""The lines to print, with notes."""

from typing import Final

from advisor.api.command_line import (
    buffer_note,
    command_of,
    congestion_note,
    only_note,
    path_notes,
    ssh_window_note,
)
from advisor.api.flow_space import processes_for
from advisor.api.tool import CommandRequest
from advisor.api.values import Command, Setting

from .known import Server
from .options import made_first, options_of, remote_shell

NAME: Final = "rsync"

# `find` writes "./" before each name, without which rsync takes "#x" and ";x" for comments. Largest
# first, and dealt in turn, every process gets about as many bytes. A process that ends sets the
# permissions of folders to which others still write: read-only folders get theirs at the end.
# Where `find` cannot look into a folder, nothing is sent: of a pipe its status would be lost.
_SEVERAL: Final = (
    r'd=$(mktemp -d) && trap "rm -rf \"$d\"" EXIT HUP INT TERM && cd "$0" && '
    r'find . \( ! -type d -o -empty \) -printf "%s %p\0" >"$d/.found" && '
    r'sort -zrn "$d/.found" | cut -zd" " -f2- | '
    r'split -t "\0" -n r/{processes} - "$d/" && printf -- "--files-from=%s\0" "$d"/* | '
    r"xargs -0 -P {processes} -n 1 "
    r'rsync {options} --chmod=Du+w --rsync-path "$2" --from0 -e "{shell}" . "$1" && '
    r'{{ [ -z "$(find . -type d ! -perm -u+w -print -quit)" ] || '
    r'rsync {options} --include="*/" --exclude="*" -e "{shell}" ./ "$1"; }}'
)
_CHECKED: Final = "rsync compares a checksum of each file that it sends, and skips files that have "
_SKIPPED: Final = "the same size and modification time."


def joint_line(request: CommandRequest, setting: Setting, server: Server) -> Command:
    """For the setting that was measured from disk to disk with rsync itself."""
    return _line(request, setting, server, [])


def tcp_line(request: CommandRequest, setting: Setting, server: Server) -> Command:
    """For streams that were measured from memory to memory."""
    streams = int(setting["streams"])
    notes = [
        "ssh encrypts, which may fill a core for each process.",
        *ssh_window_note(request, streams),
        *buffer_note(request, setting, NAME),
        *congestion_note(request, setting, NAME),
    ]
    if streams > 1 and not request.is_directory:
        notes.insert(0, f"Measured with {streams} streams; rsync moves a file over one connection.")
    return _line(request, {"concurrency": streams}, server, notes)


def _line(request: CommandRequest, setting: Setting, server: Server, notes: list[str]) -> Command:
    files = request.dataset.files if request.dataset else None
    processes = processes_for(setting, files) if request.is_directory else 1
    argv = _several(request, setting, server, processes)
    if processes == 1:
        argv = _single(request, setting, server)
    before = [*only_note(request, NAME, "tcp"), *path_notes(request, argv)]
    if processes == 1 and not server.makes_parents:
        notes = [*notes, "The folder in which the target is must exist."]
    return command_of(NAME, "source", argv, [*before, _CHECKED + _SKIPPED, *notes])


def _single(request: CommandRequest, setting: Setting, server: Server) -> list[str]:
    shell = remote_shell(server, setting, request.path.bound_address)
    slash = "/" if request.is_directory else ""
    return [
        *(NAME, *options_of(setting), *(["--mkpath"] if server.makes_parents else [])),
        *(["-e", shell] if shell != "ssh" else []),
        request.source.rstrip("/") + slash,
        server.place(request.target.rstrip("/") + slash),
    ]


def _several(
    request: CommandRequest, setting: Setting, server: Server, processes: int
) -> list[str]:
    script = _SEVERAL.format(
        shell=remote_shell(server, setting, request.path.bound_address),
        processes=processes,
        options=" ".join(options_of(setting)),
    )
    source, target = (f"{path.rstrip('/')}/" for path in (request.source, request.target))
    return ["sh", "-c", script, source, server.place(target), made_first(target)]
