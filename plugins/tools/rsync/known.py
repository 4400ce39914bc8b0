"""The way to the server, and what is looked up before rsync is used.

rsync runs the user's own ssh, which reads the user's configuration: aliases, keys and jump hosts
work as they do for `ssh HOST`.
"""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

import msgspec

from advisor.api.command_line import bracketed
from advisor.api.tool import Place
from advisor.api.troubles import why_not_by_ssh

CIPHER: Final = "aes128-gcm@openssh.com"
"""With AES instructions, a processor encrypts faster with it than with ChaCha20, ssh's choice."""

_HAS_AES: Final = "grep -qwm1 aes /proc/cpuinfo"
_LOGIN: Final = 'ssh "$@" 2>&1; true'
_FAST: Final = f'{_HAS_AES} && ssh "$@"'
_VERSION: Final = re.compile(r"^rsync +version v?(\d+)\.(\d+)\.(\d+)", re.MULTILINE)
_MISSING: Final = re.compile(r"rsync: (?:.*not found|No such file)")
_MAKES_PARENTS: Final = (3, 2, 3)


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """Where rsync logs in. `address`: HOST or USER@HOST, IPv6 addresses in brackets.

    `port`: 0 for that of ssh's configuration. `cipher`: "" for ssh's own choice.
    `makes_parents`: whether both ends know `--mkpath`.
    """

    address: str
    port: int = 0
    cipher: str = ""
    makes_parents: bool = False

    def place(self, path: str) -> str:
        """How rsync writes a path at the destination."""
        return f"{self.address}:{path}"


def server_at(host: str, server_url: str | None) -> Server:
    """The server where nothing was looked up: that of the URL, else the host."""
    if not server_url or not server_url.startswith("ssh://"):
        return Server(address=bracketed(host))
    parts = urlsplit(server_url)
    user = f"{parts.username}@" if parts.username else ""
    return Server(address=f"{user}{bracketed(parts.hostname or host)}", port=parts.port or 0)


def ssh_words(server: Server, bound_address: str = "") -> list[str]:
    """The ssh that carries the data: a connection of its own for each process, whatever the user's
    configuration shares, and no compression of data that are moved to be measured."""
    words = ["ssh", "-S", "none", "-o", "BatchMode=yes", "-o", "Compression=no"]
    words += ["-c", server.cipher] if server.cipher else []
    words += ["-p", str(server.port)] if server.port else []
    return [*words, *(["-b", bound_address] if bound_address else [])]


def lookups_for(place: Place) -> dict[str, list[str]]:
    """The commands to run."""
    server = server_at(place.host, place.server_url)
    options = ssh_words(server)[1:]
    address = server.address.replace("[", "").replace("]", "")
    return {
        "version": ["rsync", "--version"],
        "login": ["sh", "-c", _LOGIN, "sh", *options, "--", address, "rsync --version"],
        "cipher": ["sh", "-c", _FAST, "sh", "-c", CIPHER, *options, "--", address, _HAS_AES],
    }


def server_of(place: Place, found: Mapping[str, str]) -> Server:
    """The server with what was found. Raises ValueError where ssh or rsync cannot be used there."""
    server = server_at(place.host, place.server_url)
    login = found.get("login", "").replace("\r", "")
    there, here = _version(login), _version(found.get("version", ""))
    if there is None:
        other = ", or name another server with --server ssh://USER@HOST:PORT"
        raise ValueError(why_not_by_ssh("rsync", server.address, login, _MISSING, other))
    return msgspec.structs.replace(
        server,
        cipher=CIPHER if "cipher" in found else "",
        makes_parents=min(there, here or there) >= _MAKES_PARENTS,
    )


def _version(text: str) -> tuple[int, ...] | None:
    found = _VERSION.search(text)
    return tuple(map(int, found.groups())) if found else None
