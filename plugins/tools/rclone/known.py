"""What is looked up on the source before rclone is used: its options, and the way to the server.

Over SFTP the lines need what ssh found out by logging in once: the key that the server accepted,
and the file in which its host key is known. rclone has an SSH client of its own, which reads no
configuration. An object store is a remote of the user's own rclone configuration, which has its
credentials: no line does.
"""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote, urlsplit

import msgspec

from advisor.api.object_store import StoreFolder, store_folder
from advisor.api.tool import Place

_LOGIN: Final = 'ssh -v -o BatchMode=yes -o ControlPath=none -s "$@" sftp </dev/null 2>&1; true'
"""What ssh says of a login that ends at once; it fails where the server has no SFTP."""

_ACCEPTED: Final = re.compile(
    r"^debug1: Server accepts key: (?P<path>.+?) [A-Z0-9-]+ SHA256:\S+(?P<agent>.*)$", re.MULTILINE
)
_KNOWN: Final = re.compile(r"^debug1: Found key in (?P<path>.+):\d+$", re.MULTILINE)
_HOST_KEY: Final = re.compile(r"^debug1: Server host key: (?P<kind>[\w-]+) ", re.MULTILINE)
_FLAG: Final = re.compile(r"^ +(?:-\w, )?(--[\w-]+)", re.MULTILINE)
_SOFTWARE: Final = re.compile(r"^debug1: Remote protocol .* software version (.+)$", re.MULTILINE)
_WINDOW_OF_2_MIB: Final = re.compile(r"(OpenSSH_(?!.*hpn)|(Go|SFTPGo|rclone)\b)", re.IGNORECASE)
"""Servers of OpenSSH, but for HPN-SSH, and of Go's library."""
_CHATTER: Final = re.compile(r"^(debug\d|OpenSSH_|Authenticated |Transferred: |Bytes per second)")
_PROXIES: Final = ("proxyjump", "proxycommand")


class Login(msgspec.Struct, frozen=True, kw_only=True):
    """How rclone logs in at the server: what ssh's own configuration says, resolved.

    `key_file`: "" for a key of the ssh-agent. `host_key_kind`: the kind of the host's key that is
    known, "" if that was not found out. `may_widen`: whether the server's window may be wider than
    SSH's usual 2 MiB.
    """

    host: str
    user: str = ""
    port: int = 0
    key_file: str = ""
    known_hosts: str = "~/.ssh/known_hosts"
    host_key_kind: str = ""
    may_widen: bool = True


class Store(msgspec.Struct, frozen=True, kw_only=True):
    """An object store: the user's remote of that name.

    `port`: where it listens, None where that is not known.
    """

    name: str
    folder: StoreFolder
    port: int | None = None

    def address(self, path: str) -> str:
        """The place in the store of a path at the destination. Raises ValueError without one."""
        return f"{self.name}:{self.folder.key(path)}"


def lookups_for(place: Place) -> dict[str, list[str]]:
    """The commands to run."""
    flags = ["rclone", "help", "flags"]
    if is_store(place.server_url):
        name = str(place.server_url).partition(":")[0]
        return {
            "flags": flags,
            "remotes": ["rclone", "listremotes", "--long"],
            # Without its secrets. Older versions can show it only with them.
            "remote": ["rclone", "config", "redacted", "--", name],
        }
    address = _ssh_address(place.host, place.server_url)
    return {
        "flags": flags,
        "config": ["ssh", "-G", *address],
        "login": ["sh", "-c", _LOGIN, "sh", *address],
    }


def flags_of(found: Mapping[str, str]) -> frozenset[str]:
    """The options of the rclone on this host."""
    return frozenset(_FLAG.findall(found.get("flags", "")))


def login_of(found: Mapping[str, str]) -> Login:
    """The way to the server. Raises ValueError where ssh cannot log in, or only with a proxy."""
    config = dict(line.partition(" ")[::2] for line in found.get("config", "").splitlines())
    destination = config.get("host", "the server")
    login = found.get("login", "").replace("\r", "")
    said = _last_word(login)
    accepted = _ACCEPTED.search(login)
    if accepted is None:
        raise ValueError(
            f"ssh cannot log in at {destination} with a key{said}: run 'ssh {destination}' until "
            "it does, or name another server with --server sftp://USER@HOST:PORT"
        )
    if any(config.get(name, "none") != "none" for name in _PROXIES):
        raise ValueError(
            f"ssh reaches {destination} through another host, which rclone's own SSH cannot: name "
            "a server that is reached directly with --server sftp://USER@HOST:PORT"
        )
    known = _KNOWN.search(login)
    kind = _HOST_KEY.search(login)
    software = _SOFTWARE.search(login)
    if known is None:
        raise ValueError(
            f"the host key of {destination} is in no known_hosts file, which rclone needs: run "
            f"'ssh {destination}' once, and compare the key"
        )
    return Login(
        host=config.get("hostname", destination),
        user=config.get("user", ""),
        port=int(config.get("port", 0)),
        key_file="" if "agent" in accepted["agent"] else accepted["path"],
        known_hosts=known["path"],
        host_key_kind=kind["kind"] if kind else "",
        may_widen=software is None or _WINDOW_OF_2_MIB.match(software[1]) is None,
    )


def is_store(server_url: str | None) -> bool:
    """Whether the server is a remote, as in `REMOTE:BUCKET/PREFIX`, and no URL."""
    return bool(server_url) and "://" not in str(server_url)


def store_of(place: Place, found: Mapping[str, str]) -> Store:
    """The store that was named. Raises ValueError where the user has no such remote."""
    store = store_at(place.server_url or "", place.path or "")
    for line in found.get("remotes", "").splitlines():
        if line.partition(":")[0] == store.name:
            kind = line.partition(":")[2].split()
            if kind[:1] != ["s3"]:
                raise ValueError(f"the remote {store.name} is no S3 store: only those are profiled")
            return msgspec.structs.replace(store, port=_port_of(found.get("remote", "")))
    raise ValueError(f"rclone has no remote {store.name}: make it with 'rclone config'")


def _port_of(config: str) -> int | None:
    """The port of the endpoint in a remote's configuration."""
    endpoint = re.search(r"^endpoint *= *(\S+)$", config, re.MULTILINE)
    if endpoint is None:
        return None
    text = endpoint[1] if "://" in endpoint[1] else f"https://{endpoint[1]}"
    try:
        parts = urlsplit(text)
        return parts.port or (80 if parts.scheme == "http" else 443)
    except ValueError:
        return None


def store_at(server_url: str, path: str) -> Store:
    """The store in which `REMOTE:BUCKET/PREFIX` is that path at the destination."""
    name, _, place = server_url.partition(":")
    return Store(name=name, folder=store_folder(place, path))


def login_at(host: str, server_url: str | None) -> Login:
    """The way to the server where nothing was looked up: of the URL, else of HOST or USER@HOST."""
    if not server_url or not server_url.startswith("sftp://"):
        user, _, name = host.rpartition("@")
        return Login(host=name, user=user)
    parts = urlsplit(server_url)
    user = unquote(parts.username or "")
    return Login(host=parts.hostname or host, user=user, port=parts.port or 0)


def _ssh_address(destination: str, server_url: str | None) -> list[str]:
    """The words by which ssh finds the server."""
    if not server_url:
        return ["--", destination]
    login = login_at(destination, server_url)
    port = ["-p", str(login.port)] if login.port else []
    user = f"{login.user}@" if login.user else ""
    return [*port, "--", f"{user}{login.host}"]


def _last_word(text: str) -> str:
    """The last line of ssh that is a message and no report of its progress, in brackets."""
    lines = [line.strip() for line in text.splitlines() if not _CHATTER.match(line)]
    lines = [line for line in lines if line]
    return f" ({lines[-1].rstrip('.')})" if lines else ""
