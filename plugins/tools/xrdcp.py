"""xrdcp: fetches files from an XRootD server, over several TCP connections.

The effect of the options was found by running it (xrdcp and xrootd 5.5.3):
- `-S 4` opens five connections, and data is received over all five. It takes 0 to 15.
- `-r` creates the directory, under its own name, in the target, which must exist.
- It sets no buffer sizes.
Taken from its source and not run: data is sent over one connection only; all files that
`--parallel` moves share one set of connections; the path of a URL is not decoded, and ends at `?`.
"""

import shutil
from collections.abc import Mapping
from typing import Final

from advisor.api.command_line import (
    bracketed,
    buffer_note,
    congestion_note,
    files_at_once,
    only_note,
    path_notes,
    shell_line,
)
from advisor.api.tool import CommandRequest, ToolTraits
from advisor.api.values import AVAILABLE, Availability, Command, Setting, install_line

_XROOTD_PORT: Final = 1094
_MOST_STREAMS: Final = 16

_FLAGS: Final[Mapping[str, str]] = {
    "xrdcp": "The copy client of XRootD.",
    "-S STREAMS": ("Adds this many TCP connections to the first, and uses all of them for data."),
    "-r": "Copies the directory with all its contents.",
    "--parallel FILES": "Moves this many files at a time, all over the same connections.",
}


def _streams(setting: Setting) -> int:
    return min(int(setting["streams"]), _MOST_STREAMS)


def _options(request: CommandRequest, setting: Setting) -> list[str]:
    streams, at_once = _streams(setting), files_at_once(request, setting)
    return [
        *(["-S", str(streams - 1)] if streams > 1 else []),
        *(["-r"] if request.is_directory else []),
        *(["--parallel", str(at_once)] if at_once > 1 else []),
    ]


def _operands(request: CommandRequest) -> list[str]:
    """The source's URL and the local path, directories with a slash at their end."""
    url = f"root://{bracketed(request.path.source_address)}:{_XROOTD_PORT}/{request.source}"
    operands = [url, request.target_under_own_name]
    if request.is_directory:
        return [operand.rstrip("/") + "/" for operand in operands]
    return operands


def _notes(request: CommandRequest, setting: Setting, argv: list[str]) -> list[str]:
    streams = _streams(setting)
    notes = [*only_note(request, plugin.name, "tcp"), *path_notes(request, argv)]
    notes.append(
        "It pulls, since xrdcp pushes over one connection whatever -S says. The source "
        f"needs an XRootD server for the directory: `xrootd -p {_XROOTD_PORT} DIRECTORY`, not as "
        "root; by default anyone can read, and nothing is encrypted."
    )
    if streams < int(setting["streams"]):
        notes.append(f"Measured with {setting['streams']} streams; xrdcp takes {streams} at most.")
    if request.is_directory:
        notes.append(
            "The directory is created under its own name in the named directory, which must exist."
        )
    if "?" in request.source:
        notes.append("XRootD ends a name at a question mark: rename the file first.")
    return [
        *notes,
        *buffer_note(request, setting, plugin.name),
        *congestion_note(request, setting, plugin.name),
    ]


class Xrdcp:
    """Writes an xrdcp line, run on the destination."""

    name = "xrdcp"
    summary = "copy client of XRootD, fetches from a root:// server"
    flags = _FLAGS
    traits = ToolTraits(needed_at=("destination",))

    def available(self) -> Availability:
        """Whether xrdcp is on the search path."""
        if shutil.which(self.name):
            return AVAILABLE
        return Availability(reason="xrdcp is not installed", remedy=install_line("xrdcp"))

    def commands(self, request: CommandRequest) -> list[Command]:
        """One line for the best TCP setting; none without one."""
        setting = request.settings.get("tcp")
        if setting is None:
            return []
        argv = ["xrdcp", *_options(request, setting), *_operands(request)]
        note = " ".join(_notes(request, setting, argv))
        return [
            Command(
                tool=self.name, side="destination", argv=argv, shell=shell_line(argv), note=note
            )
        ]


plugin = Xrdcp()
