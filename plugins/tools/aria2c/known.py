"""The web server at the source, the login from which aria2c is started, and what is looked up.

The server has to be on the source itself: what its kernel says of the server's connections is how
aria2c's progress is known.
"""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlsplit

import msgspec

from advisor.api.command_line import bracketed, quoted_line, with_errors
from advisor.api.tool import Place
from advisor.api.troubles import why_not_by_ssh

NAME: Final = "aria2c"
SERVER: Final = r"https?://([A-Za-z0-9][\w.-]*|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?(/[\w.+@=~-]+)*"
SERVER_FORM: Final = "http://HOST:PORT/PATH for a web server on this host that serves --data there"
USUAL_PORT: Final = 8080
_PORTS: Final = {"http": 80, "https": 443}
_VERSION: Final = re.compile(r"^aria2 version \d", re.MULTILINE)
_MISSING: Final = re.compile(r"aria2c: .*not found|not found: aria2c|No such file")


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """`url`: of `root`, the file or folder that is fetched, at the server. `login`: HOST or
    USER@HOST, where ssh starts aria2c."""

    url: str
    root: str
    login: str

    @property
    def port(self) -> int:
        """Where the server listens. Raises ValueError for a number that is no port."""
        parts = urlsplit(self.url)
        try:
            return parts.port or _PORTS[parts.scheme]
        except ValueError:
            raise ValueError(f"{self.url} has no port from 1 to 65535: correct --server") from None

    def address(self, path: str) -> str:
        """The URL of a file at the source. Raises ValueError for one that is not served."""
        below = path[len(self.root) :]
        if not path.startswith(self.root) or below[:1] not in ("", "/"):
            raise ValueError(f"{path} is not below {self.root}, which is what {self.url} serves")
        return self.url + quote(below, errors="surrogateescape")


def is_server(server_url: str | None) -> bool:
    """Whether the server is one that aria2c takes."""
    return bool(server_url) and re.fullmatch(SERVER, str(server_url)) is not None


def server_at(server_url: str | None, root: str, login: str, source_address: str) -> Server:
    """The server that was named; else one at the source that serves its root directory."""
    root = root.rstrip("/")
    if is_server(server_url):
        return Server(url=str(server_url).rstrip("/"), root=root, login=login)
    url = f"http://{bracketed(source_address)}:{USUAL_PORT}"
    return Server(url=url + quote(root, errors="surrogateescape"), root=root, login=login)


def ssh_words(login: str) -> list[str]:
    """The ssh that starts aria2c, on a connection of its own: aria2c ends with it."""
    return ["ssh", "-S", "none", "-o", "BatchMode=yes", "--", login]


def at_destination(options: list[str], folder: str) -> str:
    """The command for ssh, which gets the list of URLs: it ends when the connection does.

    aria2c does not notice that nobody reads what it prints. Its parent is sshd's process for this
    connection, as each shell is replaced by what it starts. It names files from within the folder,
    so that it makes none where that folder is removed before it has ended.
    """
    script = 'mkdir -p "$0" && cd "$0" && exec aria2c --stop-with-process="$PPID" "$@"'
    return "exec " + quoted_line(["sh", "-c", script, folder, *options, "-d", ".", "-i", "-"])


def lookups_for(place: Place) -> dict[str, list[str]]:
    """The commands to run: whether the server listens here, and whether aria2c is there."""
    if not is_server(place.server_url):
        return {}
    port = server_at(place.server_url, "", place.host, "").port
    return {
        "listening": ["ss", "-Hltn", f"sport = :{port}"],
        "version": with_errors([*ssh_words(place.host), f"{NAME} --version"]),
    }


def server_of(place: Place, found: Mapping[str, str]) -> Server:
    """The server with the login. Raises ValueError where either cannot be used."""
    if not is_server(place.server_url):
        raise ValueError(f"it needs the source's server: name it with --server {SERVER_FORM}")
    server = server_at(place.server_url, place.source or "", place.host, "")
    if not found.get("listening", "").strip():
        raise ValueError(
            f"nothing listens on port {server.port} of this host: start the web server here, or "
            "name another with --server"
        )
    said = found.get("version", "").replace("\r", "")
    if _VERSION.search(said):
        return server
    raise ValueError(why_not_by_ssh(NAME, place.host, said, _MISSING))
