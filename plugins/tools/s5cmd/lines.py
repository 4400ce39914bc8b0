"""The lines to print, with notes."""

from typing import Final

from advisor.api.command_line import (
    buffer_note,
    command_of,
    congestion_note,
    only_note,
    path_notes,
    streams_per_file,
)
from advisor.api.tool import CommandRequest
from advisor.api.values import Command, Setting

from .known import SERVER_FORM, Store, is_store, s5cmd
from .options import parts, workers

NAME: Final = "s5cmd"
_PATTERN: Final = frozenset("*?[")


def joint_line(request: CommandRequest, setting: Setting, store: Store) -> Command:
    """For the setting that was measured from disk to disk with s5cmd itself."""
    return _line(request, setting, store, [])


def tcp_line(request: CommandRequest, setting: Setting, store: Store) -> Command:
    """For streams that were measured from memory to memory."""
    files, per_file = streams_per_file(request, setting)
    notes = [*buffer_note(request, setting, NAME), *congestion_note(request, setting, NAME)]
    return _line(request, {"concurrency": files, "parallelism": per_file}, store, notes)


def _line(request: CommandRequest, setting: Setting, store: Store, notes: list[str]) -> Command:
    slash = "/" if request.is_directory else ""
    source = request.source.rstrip("/") + slash
    argv = [
        *(*s5cmd(store, *workers(setting)), "cp", *parts(setting)),
        # A link may lead to files that were not counted.
        *(["--no-follow-symlinks"] if request.is_directory else []),
        *(["--raw"] if _PATTERN & set(source) else []),
        *(source, store.address(request.target) + slash),
    ]
    before = [*only_note(request, NAME, "tcp"), *path_notes(request, argv)]
    if not is_store(request.server_url):
        before.append(f"BUCKET is a placeholder: name the store with --server {SERVER_FORM}.")
    if request.is_directory:
        before.append("Symbolic links and empty folders are left out.")
    return command_of(NAME, "source", argv, [*before, "It compares no checksums.", *notes])
