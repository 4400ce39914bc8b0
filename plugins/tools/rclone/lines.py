"""The lines to print, with notes."""

from collections.abc import Collection
from typing import Final

from advisor.api.command_line import (
    buffer_note,
    command_of,
    congestion_note,
    only_note,
    path_notes,
    shell_line,
    ssh_window_note,
    streams_per_file,
)
from advisor.api.tool import CommandRequest
from advisor.api.values import Command, Setting

from .known import Login, Store
from .options import (
    DEFAULT_CHUNK_BYTES,
    address_of,
    part_options,
    remote_of,
    setting_options,
)

NAME: Final = "rclone"
_CHECKED: Final = (
    "rclone compares the checksums of source and copy where the server lets it run md5sum or "
    "sha1sum, and sizes elsewhere."
)
_STORED: Final = (
    "rclone compares the MD5 sums of source and object, as far as the store keeps them."
)


def joint_line(
    request: CommandRequest, setting: Setting, server: Login | Store, flags: Collection[str]
) -> Command:
    """For the setting that was measured from disk to disk with rclone itself."""
    options = ["--progress", *setting_options(setting, request.path.bound_address)]
    notes = [_STORED if isinstance(server, Store) else _CHECKED, *_kept_note(request)]
    return _line(request, options, address_of(server, request.target, flags), notes)


def store_line(request: CommandRequest, setting: Setting, store: Store) -> Command:
    """For streams that were measured from memory to memory, and a store that was named."""
    files, per_file = streams_per_file(request, setting)
    own: Setting = {
        "concurrency": files,
        "parallelism": per_file,
        "chunk_bytes": DEFAULT_CHUNK_BYTES,
    }
    options = ["--progress", *setting_options(own, request.path.bound_address)]
    notes = [
        _STORED,
        *buffer_note(request, setting, NAME),
        *congestion_note(request, setting, NAME),
    ]
    return _line(request, options, store.address(request.target), notes)


def tcp_line(
    request: CommandRequest,
    setting: Setting,
    login: Login,
    flags: Collection[str],
    *,
    is_known: bool,
) -> Command:
    """For streams that were measured from memory to memory.

    `is_known`: whether the login was looked up.
    """
    files, per_file = streams_per_file(request, setting)
    bound = request.path.bound_address
    options = ["--progress", "--transfers", str(files), *part_options(per_file)]
    bind = ["--bind", bound] if bound else []
    notes = [
        *([] if is_known else [_LOGIN]),
        "SFTP encrypts, which may fill a core.",
        *_fetching_note(request, options, per_file),
        *ssh_window_note(request, int(setting["streams"])),
        *buffer_note(request, setting, NAME),
        *congestion_note(request, setting, NAME),
    ]
    return _line(request, [*options, *bind], remote_of(login, flags) + request.target, notes)


_LOGIN: Final = "Uses the key of your ssh-agent and the host keys of ~/.ssh/known_hosts."


def _line(request: CommandRequest, options: list[str], target: str, notes: list[str]) -> Command:
    # The slash is for readers: rclone checks whether the path is a directory.
    source = request.source.rstrip("/") + "/" if request.is_directory else request.source
    argv = [NAME, "copyto", *options, source, target]
    before = [*only_note(request, NAME, "tcp"), *path_notes(request, argv)]
    return command_of(NAME, "source", argv, [*before, *notes])


def _fetching_note(request: CommandRequest, options: list[str], per_file: int) -> list[str]:
    """A note for versions that send a file over one connection.

    `options`: those of either host, so without an address of one.
    """
    if per_file == 1:
        return []
    remote = remote_of(Login(host=request.path.source_address)) + request.source
    line = shell_line([NAME, "copyto", *options, remote, request.target])
    return [
        "An rclone whose `rclone help flags` has no --sftp-disable-multithread-upload sends a file "
        "over one connection, but reads it over several: then run this on the destination: "
        f"`{line}`."
    ]


def _kept_note(request: CommandRequest) -> list[str]:
    if request.kept is None or not (request.kept.files or request.kept.first_bytes):
        return []
    return ["What is already there is skipped where size and modification time are the same."]
