"""gfal-copy: has the destination's HTTP or WebDAV server fetch files from the source's (HTTP-TPC).

Found by running it (gfal2 2.21.3, gfal2-util 1.8.0, xrootd 5.5.3 at both ends):
- With `-n 4` the destination's server opens five connections: over the first it asks for the size.
- Without `--copy-mode pull`, and where neither server can copy by itself, everything goes through
  the host that runs it, in silence.
- Without a token in BEARER_TOKEN it asks for X.509 delegation, which a server without it answers
  with "HTTP 400". BEARER_TOKEN_FILE is not read.
- `-r` copies one file after another. A name with a space fails, with status 0 unless
  `--abort-on-failure` is given.
- `-t` is 1800 seconds unless given: larger files need it.
- What exists is not replaced: status 17.
- A copy that has begun cannot be ended, so that it is not profiled: killed, or interrupted by
  SIGINT, 1.2 s after its start, gfal-copy left the server fetching, to the end of a file of 400 MB.
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from advisor.api.command_line import (
    bracketed,
    buffer_note,
    command_of,
    congestion_note,
    only_note,
    path_notes,
)
from advisor.api.tool import CommandRequest
from advisor.api.values import Availability, Command, Setting, program_available

_PORT: Final = 1094
_WEEK_S: Final = "604800"

_FLAGS: Final[Mapping[str, str]] = {
    "gfal-copy": "The copy program of gfal2, for WebDAV and other servers of storage sites.",
    "-p": "Creates the destination's directory where it is missing.",
    "-n STREAMS": "Has the server fetch each file over this many connections.",
    "--copy-mode pull": (
        "Has the destination's server fetch from the source's; no data passes through this host."
    ),
    "-t SECONDS": "Gives one operation this long; the default, half an hour, ends long copies.",
    "-T SECONDS": "Gives one transfer this long.",
    "-r": "Copies a directory with all below it, one file after another.",
    "--abort-on-failure": "Ends at the first failure; otherwise -r ends with status 0 after some.",
}


def _url(host: str, path: str) -> str:
    return f"davs://{bracketed(host)}:{_PORT}{quote(path, safe='/', errors='surrogateescape')}"


def _notes(request: CommandRequest, setting: Setting, argv: list[str]) -> list[str]:
    notes = [
        *only_note(request, plugin.name, "tcp"),
        *path_notes(request, argv),
        f"It runs anywhere. Both hosts need a WebDAV server that copies by itself (HTTP-TPC), as "
        f"XRootD, dCache, EOS and StoRM have; replace both hosts, the ports {_PORT} and the paths "
        "with those of the servers. They have to accept a token in the environment's BEARER_TOKEN, "
        "or an X.509 proxy.",
        "What exists there is not replaced.",
    ]
    if request.is_directory:
        notes.append(
            "It copies one file after another, so many small files take long, and ends at a name "
            "with a space."
        )
    notes += buffer_note(request, setting, "the server")
    return [*notes, *congestion_note(request, setting, plugin.name)]


class GfalCopy:
    """Writes a gfal-copy line: between two servers, over as many connections as were best."""

    name = "gfal-copy"
    summary = "copies between two WebDAV servers of storage sites (HTTP third-party copy)"
    flags = _FLAGS

    def available(self) -> Availability:
        """Whether gfal-copy is on the search path."""
        return program_available(self.name)

    def commands(self, request: CommandRequest) -> list[Command]:
        """One line for the best TCP setting; none without one."""
        setting = request.settings.get("tcp")
        if setting is None:
            return []
        argv = [self.name, "-p", "-n", str(setting["streams"]), "--copy-mode", "pull"]
        argv += ["-t", _WEEK_S, "-T", _WEEK_S]
        if request.is_directory:
            argv += ["-r", "--abort-on-failure"]
        argv += [
            _url(request.path.source_address, request.source),
            _url(request.destination_host, request.target),
        ]
        return [command_of(self.name, "source", argv, _notes(request, setting, argv))]


plugin = GfalCopy()
