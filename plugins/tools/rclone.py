"""rclone: copies to another host over SFTP, a TCP connection for each file or part of a file.

Found by running it (rclone 1.60.1, against its own SFTP server): files and directories are written
to the given name, whatever characters it has. Not run, but taken from rclone's documentation and
tracker: the number of connections. Sending a file in parts was added in August 2026 (pull request
9724); reading one in parts is older. SSH's window of 2 MiB is that of OpenSSH and of Go's library.
"""

import shutil
from collections.abc import Mapping
from typing import Final

from advisor.api.command_line import buffer_note, congestion_note, only_note, path_notes, shell_line
from advisor.api.tool import CommandRequest
from advisor.api.values import AVAILABLE, Availability, Command, Setting, format_rate, install_line

_SSH_WINDOW_BYTES: Final = 2 * 2**20

_FLAGS: Final[Mapping[str, str]] = {
    "rclone copyto": (
        "Copies the file to exactly this name, or the directory's contents into this directory."
    ),
    "--progress": "Shows the bytes moved and the rate while it runs.",
    "--transfers FILES": "Moves this many files at a time, each over its own connection.",
    "--multi-thread-streams STREAMS": (
        "Moves each large file in this many concurrent parts, each over its own connection; "
        "with 0, files are not split."
    ),
    "--bind ADDRESS": "Sends from this address of the host.",
    "--multi-thread-cutoff SIZE": "The least size of a file that is moved in parts.",
}


def _shares(request: CommandRequest, setting: Setting) -> tuple[int, int]:
    """The number of files at a time and of connections each; their product is that measured.

    A directory's files are sent whole if there are enough of them, which every version can do.
    """
    streams = int(setting["streams"])
    if not request.is_directory:
        return 1, streams
    known = request.dataset.files if request.dataset else None
    files = min(streams, known or streams)
    return files, streams // files


def _remote(host: str) -> str:
    """A remote given inline, which needs no configuration."""
    quoted = f'"{host}"' if ":" in host else host
    return f":sftp,host={quoted},known_hosts_file=~/.ssh/known_hosts:"


def _options(files: int, per_file: int, bound: str = "") -> list[str]:
    parts = ["--multi-thread-streams", str(per_file if per_file > 1 else 0)]
    # M is 2^20 bytes in every version; only the newer ones take Mi.
    cutoff = ["--multi-thread-cutoff", "64M"] if per_file > 1 else []
    bind = ["--bind", bound] if bound else []
    return ["--progress", "--transfers", str(files), *parts, *cutoff, *bind]


def _fetching_note(request: CommandRequest, options: list[str], per_file: int) -> list[str]:
    """A note for versions that send a file over one connection."""
    if per_file == 1:
        return []
    remote = _remote(request.path.source_address) + request.source
    line = shell_line(["rclone", "copyto", *options, remote, request.target])
    return [
        "An rclone whose `rclone help flags` has no --sftp-disable-multithread-upload sends a file "
        "over one connection, but reads it over several: then run this on the destination: "
        f"`{line}`."
    ]


def _window_note(request: CommandRequest, setting: Setting) -> list[str]:
    """A note for a path on which SSH's own window is the limit; else none."""
    path, streams = request.path, int(setting["streams"])
    most_bps = streams * _SSH_WINDOW_BYTES * 8 / path.rtt_s
    if path.capacity_bps and most_bps >= path.capacity_bps:
        return []
    return [
        "SSH has at most 2 MiB in flight per connection, whatever its socket buffer, so at most "
        f"{format_rate(most_bps)} here."
    ]


def _notes(request: CommandRequest, setting: Setting, argv: list[str]) -> list[str]:
    files, per_file = _shares(request, setting)
    return [
        *only_note(request, plugin.name, "tcp"),
        *path_notes(request, argv),
        "Uses the key of your ssh-agent and the host keys of ~/.ssh/known_hosts. SFTP encrypts, "
        "which may fill a core.",
        *_fetching_note(request, _options(files, per_file), per_file),
        *_window_note(request, setting),
        *buffer_note(request, setting, plugin.name),
        *congestion_note(request, setting, plugin.name),
    ]


class Rclone:
    """Writes an rclone line, run on the source."""

    name = "rclone"
    summary = "copies files over SFTP, several connections at a time"
    flags = _FLAGS

    def available(self) -> Availability:
        """Whether rclone is on the search path."""
        if shutil.which(self.name):
            return AVAILABLE
        return Availability(reason="rclone is not installed", remedy=install_line("rclone"))

    def commands(self, request: CommandRequest) -> list[Command]:
        """One line for the best TCP setting; none without one."""
        setting = request.settings.get("tcp")
        if setting is None:
            return []
        options = _options(*_shares(request, setting), request.path.bound_address)
        # The slash is for readers: rclone checks whether the path is a directory.
        source = request.source.rstrip("/") + "/" if request.is_directory else request.source
        remote = _remote(request.destination_host) + request.target
        argv = ["rclone", "copyto", *options, source, remote]
        note = " ".join(_notes(request, setting, argv))
        return [
            Command(tool=self.name, side="source", argv=argv, shell=shell_line(argv), note=note)
        ]


plugin = Rclone()
