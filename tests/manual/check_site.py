"""The site that `make docs` built, in a real browser: it is searched, and asks nobody else.

Not part of `make test`, which does not build it: `make docs-check`.
"""

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.browser import Browser, need_chromium

SITE = Path(__file__).parents[2] / "build/site"
# The browser leaves when all is loaded: a picture that comes with the results keeps it until then.
PAGE = """<iframe src="index.html?q={query}"></iframe><img src="/until-found"><script>
const timer = setInterval(() => {
  const shown = document.querySelector("iframe").contentDocument;
  const found = [...shown.querySelectorAll(".md-search-result__link")].map(one => one.href);
  if (found.length) {
    clearInterval(timer);
    fetch("/found", { method: "POST", body: JSON.stringify(found) });
  }
}, 100);
</script>"""


class Server(ThreadingHTTPServer):
    """Serves the site, and a page that searches it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), partial(_Handler, directory=str(SITE)))
        self.found: list[str] = []
        self.done = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(SimpleHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        if self.path.startswith("/search-for/"):
            query = self.path.rpartition("/")[2]
            self._answer(f"<base href='/'>{PAGE.replace('{query}', query)}".encode())
        elif self.path == "/until-found":
            self.server.done.wait(30)
            self._answer(b"")
        else:
            super().do_GET()

    def do_POST(self) -> None:
        self.server.found = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._answer(b"")
        self.server.done.set()

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing on standard error."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as one:
        thread = threading.Thread(target=one.serve_forever)
        thread.start()
        yield one
        one.shutdown()
        thread.join()


@need_chromium
@pytest.mark.parametrize(
    ("query", "page"), [("retransmits", "python.html"), ("pairing", "agent.html")]
)
def test_a_word_is_found_and_nobody_else_is_asked(
    query: str, page: str, server: Server, tmp_path: Path
) -> None:
    _, asked = Browser(tmp_path).see(f"{server.url}/search-for/{query}")
    assert f"{server.url}/{page}" in {found.partition("?")[0] for found in server.found}
    assert asked
    assert [url for url in asked if not url.startswith((server.url, "data:", "blob:"))] == []
