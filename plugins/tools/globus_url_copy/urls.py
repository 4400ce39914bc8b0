"""URLs in the form that globus-url-copy takes."""

from typing import Final
from urllib.parse import quote, urlsplit

from advisor.api.command_line import bracketed

GRIDFTP_PORT: Final = 2811
SSH: Final = "sshftp"
_FTP_PORT: Final = 21
_SCHEMES: Final = ("gsiftp", "ftp", SSH)


def url_path(path: str) -> str:
    """An absolute path for a URL, with all bytes outside the unreserved set encoded."""
    return quote("/" + path.lstrip("/"), safe="/", errors="surrogateescape")


def own_server(server_url: str | None) -> str | None:
    """The server that was named where it is one of GridFTP; None for none, or another tool's."""
    return server_url if server_url and urlsplit(server_url).scheme in _SCHEMES else None


def scheme_of(server_url: str | None) -> str:
    """The given server's scheme; "" where none was given."""
    return urlsplit(server_url).scheme if server_url else ""


def server_at(server_url: str | None, host: str, scheme: str) -> str:
    """The server's URL without a path: the given one with this scheme, or GridFTP's own port.

    `host`: HOST or USER@HOST, as ssh takes it, of which the user is for ssh alone. With
    sshftp:// the port is that of the user's configuration.
    """
    if server_url:
        return f"{scheme}://{urlsplit(server_url).netloc}"
    user, at, name = host.rpartition("@")
    if scheme == SSH:
        return f"{scheme}://{quote(user, safe='')}{at}{bracketed(name)}"
    return f"{scheme}://{bracketed(name)}:{GRIDFTP_PORT}"


def measured_server(server_url: str | None, host: str) -> str:
    """The URL of the server that files are measured with: the given one, or GridFTP's own port."""
    own = own_server(server_url)
    return server_at(own, host, scheme_of(own) or "ftp")


def place_of(server: str) -> tuple[str, int]:
    """The host and the port of a server's URL."""
    return urlsplit(server).hostname or "", control_port(server)


def control_port(server: str) -> int:
    """The port of a server's URL: globus-url-copy uses FTP's default for ftp://HOST."""
    parts = urlsplit(server)
    return parts.port or (_FTP_PORT if parts.scheme == "ftp" else GRIDFTP_PORT)
