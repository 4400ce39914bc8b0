"""Addresses as globus-url-copy takes them."""

from typing import Final
from urllib.parse import quote, urlsplit

from advisor.api.command_line import bracketed

GRIDFTP_PORT: Final = 2811
_FTP_PORT: Final = 21


def url_path(path: str) -> str:
    """A path as an URL has it: from the root, the bytes outside the unreserved set encoded."""
    return quote("/" + path.lstrip("/"), safe="/", errors="surrogateescape")


def scheme_of(server_url: str | None) -> str:
    """The given server's scheme; "" where none was given."""
    return urlsplit(server_url).scheme if server_url else ""


def server_at(server_url: str | None, host: str, scheme: str) -> str:
    """The server's URL without a path: the given one with this scheme, or GridFTP's own port."""
    if server_url:
        return f"{scheme}://{urlsplit(server_url).netloc}"
    return f"{scheme}://{bracketed(host)}:{GRIDFTP_PORT}"


def control_port(server: str) -> int:
    """The port that a server's URL means: globus-url-copy takes FTP's own for ftp://HOST."""
    parts = urlsplit(server)
    return parts.port or (_FTP_PORT if parts.scheme == "ftp" else GRIDFTP_PORT)
