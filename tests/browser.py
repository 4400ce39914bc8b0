"""A headless Chromium, for pages that the program makes."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

_CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)

need_chromium = pytest.mark.skipif(
    _CHROMIUM is None, reason="Chromium is not installed: apt-get install chromium"
)


class Browser:
    """A headless Chromium with a profile of its own, to which no name is known."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def run(self, url: str, *words: str) -> "subprocess.CompletedProcess[str]":
        """Open a page; the browser's own requests for updates lead nowhere either."""
        assert _CHROMIUM is not None
        argv = [
            _CHROMIUM,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--hide-scrollbars",
            "--enable-logging=stderr",
            "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
            f"--user-data-dir={self._folder / 'profile'}",
            *words,
            url,
        ]
        environment = {"HOME": str(self._folder), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        return subprocess.run(
            argv, capture_output=True, text=True, timeout=120, check=True, env=environment
        )

    def see(self, url: str) -> "tuple[subprocess.CompletedProcess[str], list[str]]":
        """Open a page: it as it became, with its console, and the addresses that it asked for."""
        log = self._folder / "net.json"
        done = self.run(url, f"--log-net-log={log}", "--dump-dom")
        return done, _asked(json.loads(log.read_text()))

    def picture(self, url: str, width: int, scheme: str) -> Image.Image:
        """The page in a window of this width."""
        taken = self._folder / f"{width}.png"
        number = {"dark": 0, "light": 1}[scheme]
        self.run(
            url,
            f"--blink-settings=preferredColorScheme={number}",
            f"--window-size={width},1200",
            f"--screenshot={taken}",
        )
        return Image.open(taken).convert("RGB")


def _asked(log: dict[str, Any]) -> list[str]:
    """Requests that have an origin; the browser's own have none."""
    kind = log["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"]
    started = [one.get("params", {}) for one in log["events"] if one["type"] == kind]
    return [
        one["url"] for one in started if one.get("initiator", "not an origin") != "not an origin"
    ]
