"""The server that lines are for, and what is looked up of it before the tool is used.

xrdcp finds proxies, tokens and tickets where XRootD's libraries look for them: in its environment.
No line has any.
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

import msgspec

from advisor.api.command_line import bracketed, with_errors
from advisor.api.tool import Place

from .trouble import trouble_of

NAME: Final = "xrdcp"
SERVER: Final = r"roots?://([A-Za-z0-9][\w.-]*|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?"
SERVER_FORM: Final = "root://HOST:PORT for an XRootD server, roots:// for one with TLS"
PORT: Final = 1094

AT_ONCE: Final = ("env", "XRD_CONNECTIONRETRY=1", "XRD_CONNECTIONWINDOW=10")
"""By default a refused connection is tried again for eight minutes (5.5.3)."""


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """An XRootD server. `host`: IPv6 addresses in brackets. `port`: 0 for the usual one.

    A path at the destination is the same in its namespace.
    """

    host: str
    port: int = 0
    scheme: str = "root"

    @property
    def url(self) -> str:
        """Of the server itself."""
        port = f":{self.port}" if self.port else ""
        return f"{self.scheme}://{self.host}{port}"

    def place(self, path: str) -> str:
        """How xrdcp writes a path at the destination."""
        return f"{self.url}/{path}"


def is_server(server_url: str | None) -> bool:
    """Whether an XRootD server was named."""
    return bool(server_url) and str(server_url).startswith(("root://", "roots://"))


def server_at(host: str, server_url: str | None) -> Server:
    """The server of the URL, else that of the host. Raises ValueError for a port above 65535."""
    if not is_server(server_url):
        return Server(host=bracketed(host.rpartition("@")[2]))
    parts = urlsplit(str(server_url))
    if parts.port == 0:
        raise ValueError("port 0 is none")
    return Server(host=bracketed(parts.hostname or host), port=parts.port or 0, scheme=parts.scheme)


def lookups_for(place: Place) -> dict[str, list[str]]:
    """The command to run: whether the server lets this user in."""
    url = server_at(place.host, place.server_url).url
    return {"version": with_errors([*AT_ONCE, "xrdfs", url, "query", "config", "version"])}


def server_of(place: Place, found: Mapping[str, str]) -> Server:
    """The server that was named. Raises ValueError where it lets nobody in."""
    server = server_at(place.host, place.server_url)
    said = found.get("version", "")
    trouble = trouble_of(1, "", said)
    if not said.startswith("v") and trouble:
        raise ValueError(f"{server.url}: {trouble.message.rstrip('.')}")
    return server
