"""Sources and destinations as URLs."""

import pytest

from advisor.cli.urls import GridFtpUrl, parse_file_url
from advisor.domain.endpoints import Endpoint


@pytest.mark.parametrize(
    ("text", "endpoint", "server", "path"),
    [
        ("gsiftp://dtn02/store/run42", Endpoint("dtn02"), "gsiftp://dtn02", "/store/run42"),
        ("ftp://dtn02:2812/a/", Endpoint("dtn02"), "ftp://dtn02:2812", "/a/"),
        ("gsiftp://me@dtn02/a%20b", Endpoint("dtn02", "me"), "gsiftp://dtn02", "/a b"),
        ("gsiftp://[fd00::2]:99/a", Endpoint("fd00::2"), "gsiftp://[fd00::2]:99", "/a"),
    ],
)
def test_a_place_on_a_server(text: str, endpoint: Endpoint, server: str, path: str) -> None:
    assert GridFtpUrl.parse(text) == GridFtpUrl(endpoint=endpoint, server=server, path=path)


@pytest.mark.parametrize(
    "text",
    [
        "http://dtn02/a",
        "gsiftp://dtn02",
        "gsiftp://dtn02/",
        "gsiftp:///a",
        "gsiftp://dtn02:port/a",
        "gsiftp://[fd00::2/a",
        "gsiftp://dtn02/~/a",
        "gsiftp://-oProxyCommand/a",
    ],
)
def test_what_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="write"):
        GridFtpUrl.parse(text)


def test_files_of_this_host() -> None:
    assert parse_file_url("/data/run 42") == "/data/run 42"
    assert parse_file_url("file:///data/run%2042") == "/data/run 42"
    assert parse_file_url("file://localhost/data") == "/data"
    for text in ("file://dtn01/data", "gsiftp://dtn01/data", "file://"):
        with pytest.raises(ValueError, match="run this where the data is"):
            parse_file_url(text)
