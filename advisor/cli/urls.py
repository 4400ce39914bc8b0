"""Sources and destinations as URLs, as globus-url-copy takes them."""

from urllib.parse import unquote, urlsplit

import msgspec

from advisor.domain.endpoints import Endpoint


class GridFtpUrl(msgspec.Struct, frozen=True, kw_only=True):
    """A place on a GridFTP server, as globus-url-copy writes it. `path`: absolute."""

    endpoint: Endpoint
    server: str
    path: str

    @classmethod
    def parse(cls, text: str) -> "GridFtpUrl":
        """`gsiftp://[USER@]HOST[:PORT]/PATH`, or with ftp://. Raises ValueError."""
        try:
            parts = urlsplit(text.strip())
            host, port = parts.hostname, parts.port
        except ValueError as error:
            raise ValueError(
                f"'{text}' is no URL ({error}): write gsiftp://HOST:PORT/PATH"
            ) from None
        if parts.scheme not in ("gsiftp", "ftp") or not host or not parts.path.strip("/"):
            raise ValueError(
                f"'{text}' is no place on a GridFTP server: write gsiftp://HOST:PORT/PATH"
            )
        if parts.path.startswith("/~"):
            raise ValueError(f"'{text}': write the whole path instead of ~")
        user = f"{unquote(parts.username)}@" if parts.username else ""
        shown = f"[{host}]" if ":" in host else host
        return cls(
            endpoint=Endpoint.parse(f"{user}{host}"),
            server=f"{parts.scheme}://{shown}" + (f":{port}" if port else ""),
            path=unquote(parts.path),
        )


def parse_file_url(text: str) -> str:
    """The path of a file:// URL of this host (RFC 8089), or the text itself. Raises ValueError."""
    if "://" not in text:
        return text
    parts = urlsplit(text)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or not parts.path:
        raise ValueError(
            "the source is a path on this host, or file:///PATH: run this where the data is"
        )
    return unquote(parts.path)
