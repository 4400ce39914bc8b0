"""bbcp: copies files to another host over several TCP connections, started through ssh.

Not run: written from the program's help and its source, version 14.04.14 (the fork of SLAC's
repository at github.com/eeertekin/bbcp):
- `-s` takes 1 to 64.
- A window is only set with `=` before it. Otherwise, where the kernel autotunes receive buffers
  (net.ipv4.tcp_moderate_rcvbuf is 1), `-w` sets nothing but bbcp's own buffers.
- The sender sets four fifths of the window.
- `-r` creates the directory, under its own name, in the target, which must exist.
- Names are sent to the other side one per line, so no shell interprets them.
"""

from collections.abc import Mapping
from typing import Final

from advisor.api.command_line import bracketed, command_of, congestion_note, only_note, path_notes
from advisor.api.tool import CommandRequest, ToolTraits
from advisor.api.values import Availability, Command, Setting, program_available

_MOST_STREAMS: Final = 64
_LEAST_WINDOW_BYTES: Final = 8192

_FLAGS: Final[Mapping[str, str]] = {
    "bbcp": "Copies files over several connections; it must be installed on both hosts.",
    "-P SECONDS": "Shows progress at this interval, in seconds.",
    "-v": "Shows the rate of each file.",
    "-s STREAMS": "Sends each file over this many TCP connections at once.",
    "-w =BYTES": (
        "Sets socket buffers of this size, instead of the kernel's autotuning; the sender "
        "uses four fifths of it."
    ),
    "-r": "Copies the files in subdirectories too.",
}


def _streams(setting: Setting) -> int:
    return min(int(setting["streams"]), _MOST_STREAMS)


def _options(request: CommandRequest, setting: Setting) -> list[str]:
    options = ["-P", "2", "-v", "-s", str(_streams(setting))]
    if buffer_bytes := int(setting["buffer_bytes"]):
        options += ["-w", f"={max(buffer_bytes, _LEAST_WINDOW_BYTES)}"]
    return [*options, "-r"] if request.is_directory else options


def _notes(request: CommandRequest, setting: Setting, argv: list[str]) -> list[str]:
    notes = [*only_note(request, plugin.name, "tcp"), *path_notes(request, argv)]
    notes.append(
        "bbcp must be installed on both hosts, and ssh there must work without a prompt. "
        "The source connects to ports of the destination; with -z the destination connects."
    )
    if request.is_directory:
        notes.append(
            "The directory is created under its own name in the named directory, which must "
            "exist. Files are sent one at a time: many small ones are slow."
        )
    if _streams(setting) < int(setting["streams"]):
        notes.append(f"Measured with {setting['streams']} streams; bbcp takes {_MOST_STREAMS}.")
    return [*notes, *congestion_note(request, setting, plugin.name)]


class Bbcp:
    """Writes a bbcp line, run on the source."""

    name = "bbcp"
    summary = "SLAC's copy program, several connections started through ssh"
    flags = _FLAGS
    traits = ToolTraits(needed_at=("source", "destination"))

    def available(self) -> Availability:
        """Whether bbcp is on the search path."""
        return program_available(
            self.name,
            reason="bbcp is not installed, and Debian has no package",
            remedy="build it on both hosts from https://github.com/eeertekin/bbcp",
        )

    def commands(self, request: CommandRequest) -> list[Command]:
        """One line for the best TCP setting; none without one."""
        setting = request.settings.get("tcp")
        if setting is None:
            return []
        source = request.source
        if request.is_directory:
            source = source.rstrip("/")
        target = f"{bracketed(request.login)}:{request.target_under_own_name}"
        argv = ["bbcp", *_options(request, setting), source, target]
        return [command_of(self.name, "source", argv, _notes(request, setting, argv))]


plugin = Bbcp()
