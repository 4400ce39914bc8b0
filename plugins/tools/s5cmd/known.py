"""The store that lines are for, and what is looked up of it before the tool is used.

s5cmd finds credentials where the AWS command line does: its environment, or ~/.aws/credentials. No
line has any.
"""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

import msgspec

from advisor.api.command_line import with_errors
from advisor.api.object_store import StoreFolder, store_folder
from advisor.api.tool import Place

from .trouble import trouble_of

_BUCKET: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{1,62}(/[\w.+@=-]+)*/?"
SERVER: Final = (
    rf"s3://{_BUCKET}|https?://([A-Za-z0-9][\w.-]*|\[[0-9A-Fa-f:.]+\])(:\d{{1,5}})?/{_BUCKET}"
)
SERVER_FORM: Final = "s3://BUCKET/PREFIX or https://HOST:PORT/BUCKET/PREFIX for an S3 store"
_UNNAMED: Final = "BUCKET"
_HTTPS_PORT: Final = 443
_HTTP_PORT: Final = 80


class Store(msgspec.Struct, frozen=True, kw_only=True):
    """`endpoint`: the URL of its server; "" for that of AWS, or of s5cmd's environment."""

    folder: StoreFolder
    endpoint: str = ""

    def address(self, path: str) -> str:
        """The place in the store of a path at the destination. Raises ValueError without one."""
        return f"s3://{self.folder.key(path)}"

    @property
    def host(self) -> str:
        """Of the endpoint; "" where it has none."""
        return urlsplit(self.endpoint).hostname or ""

    @property
    def port(self) -> int:
        """Where the server listens."""
        parts = urlsplit(self.endpoint)
        return parts.port or (_HTTP_PORT if parts.scheme == "http" else _HTTPS_PORT)


def is_store(server_url: str | None) -> bool:
    """Whether the server is one that s5cmd takes."""
    return bool(server_url) and re.fullmatch(SERVER, str(server_url)) is not None


def store_at(server_url: str | None, path: str) -> Store:
    """The store in which the server's bucket and prefix are that path at the destination.

    With a placeholder where no such server was named. Raises ValueError for a port above 65535.
    """
    if not is_store(server_url):
        return Store(folder=store_folder(_UNNAMED, "/"))
    parts = urlsplit(str(server_url))
    if parts.scheme == "s3":
        return Store(folder=store_folder(f"{parts.netloc}{parts.path}", path))
    if parts.port == 0:
        raise ValueError("port 0 is none")
    endpoint = f"{parts.scheme}://{parts.netloc}"
    return Store(folder=store_folder(parts.path, path), endpoint=endpoint)


def lookups_for(place: Place) -> dict[str, list[str]]:
    """The command to run: whether the store has the bucket for these credentials."""
    if not is_store(place.server_url):
        return {}
    look = s5cmd(store_at(place.server_url, "/"), "--json", "--retry-count", "1")
    return {"bucket": with_errors([*look, "head", f"s3://{_bucket_of(place)}"])}


def store_of(place: Place, found: Mapping[str, str]) -> Store:
    """The store that was named. Raises ValueError where there is none, or it does not answer."""
    if not is_store(place.server_url):
        raise ValueError(f"it needs the store: name it with --server {SERVER_FORM}")
    said = found.get("bucket", "")
    if '{"bucket":' not in said:
        trouble = trouble_of(1, "", said)
        raise ValueError(trouble.message.rstrip(".") if trouble else "the store does not answer")
    return store_at(place.server_url, place.path or "/")


def s5cmd(store: Store, *options: str) -> list[str]:
    """The command, with these options and the store's endpoint."""
    endpoint = ["--endpoint-url", store.endpoint] if store.endpoint else []
    return ["s5cmd", *options, *endpoint]


def _bucket_of(place: Place) -> str:
    parts = urlsplit(str(place.server_url))
    return parts.netloc if parts.scheme == "s3" else parts.path.strip("/").partition("/")[0]
