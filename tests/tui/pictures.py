"""The pictures of the manual: every screen, over recorded or made-up runs, at a fixed time.

`scripts/screenshots.py` writes them into docs/screens; test_pictures tells when they are outdated.
"""

import contextlib
import html
import re
import socket
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Final, cast
from unittest.mock import patch

from msgspec.structs import replace
from textual.pilot import Pilot

from advisor.domain.events import AnyEvent, HistoryFound, PathFound
from advisor.runtime.advisor_child import AdvisorChild
from advisor.store.event_log import kept_events
from advisor.store.history import Store
from advisor.store.layout import shipped_profiles, shipped_recording
from advisor.tui.app import AdvisorApp
from advisor.tui.features.advising.draft import Draft
from advisor.tui.features.fleet.looking import FleetView
from advisor.tui.features.fleet.screens import fleet as fleet_screen
from advisor.tui.features.shares import forecasts
from advisor.tui.features.shares.draft import SharesDraft, save_shares_draft
from advisor.tui.features.transfer.live_transfer import LiveTransfer
from advisor.tui.features.transfer.transfer_model import TransferModel
from advisor.tui.screens import SCREENS, WALK

from . import shared, tuned
from .driving import settle
from .recorded import over
from .recorded_runs import RecordedRun
from .stored import keep_probes
from .test_fleet import NOW_S, a_pair, a_view

FOLDER: Final = Path(__file__).parents[2] / "docs/screens"
SIZE: Final = (120, 40)
HOST: Final = "dtn1"
DESTINATION: Final = "lab:far-away"
NAMES: Final = [name for name in SCREENS if name != "shares_run"]
"""Every screen that has a name; the form of shares is shown over a plan alone."""
_KEYS: Final = {"rtt": "r", "fleet": "right"}
"""What is pressed first: the reference profiles; a pair with results."""
_HOSTS: Final = {
    "anl": 9.4e9,
    "bnl": 8.8e9,
    "lbl": 4.7e9,
    "nersc": 9.1e9,
    "ornl": 6.2e9,
    "tacc": 3.1e9,
}
"""Hosts of a fleet, and what the slower one of a pair reaches."""
_FRAME_S: Final = 3
_ROUNDS: Final = 5
_MOST_ROUNDS: Final = 40


class _Answers:
    """A child that says what the recorded path said, and ends."""

    def __init__(self, events: Sequence[AnyEvent]) -> None:
        self._events = events

    async def events(self) -> AsyncIterator[AnyEvent]:
        for event in self._events:
            yield event

    async def ended(self) -> tuple[int, str]:
        return 0, ""

    async def close(self, *, at_once: bool = False) -> None:
        """It has ended."""


def _recording() -> list[AnyEvent]:
    folder = shipped_recording()
    assert folder
    return list(kept_events(folder))


@contextlib.contextmanager
def _fixed_world() -> Iterator[None]:
    """This host has a name, the time stands still, and children answer from the recording."""
    path = [one for one in _recording() if isinstance(one, PathFound | HistoryFound)]

    async def start(_: Sequence[str]) -> _Answers:
        return _Answers(path)

    known = shared.learned(dict.fromkeys(shared.NAMES, cast(forecasts.Forecast, None)))
    with (
        patch.object(socket, "gethostname", lambda: HOST),
        patch.object(time, "time", lambda: NOW_S),
        patch.object(AdvisorChild, "start", start),
        patch.object(fleet_screen, "fleet_view", lambda *_: _fleet()),
        patch.object(forecasts, "learned_of", lambda *_: known),
        patch.object(forecasts, "plan_of", lambda _, asked: shared.plan(asked)),
    ):
        yield


def _fleet() -> FleetView:
    pairs = [
        a_pair(source, destination, rate_bps=min(_HOSTS[source], _HOSTS[destination]))
        for source in _HOSTS
        for destination in _HOSTS
        if source != destination
    ]
    pairs[3] = replace(pairs[3], news="changed", rate_bps=3.9e9)
    return a_view(pairs, measured=len(pairs), due=0, down=[], pauses=[])


def _app(home: Path, name: str) -> AdvisorApp:
    store = Store(home / "history", shipped_profiles())
    keep_probes(store, DESTINATION, [9.3e8, 9.6e8, 9.5e8])
    keep_probes(store, "dtn02.example.org", [4.1e9, 4.3e9])
    draft = Draft(destination=DESTINATION, what="size", size="10TB")
    app = AdvisorApp(store, draft)
    if name in WALK:
        over(app)
    if name == "moving":
        run = RecordedRun(TransferModel(tuned.under_way()), is_running=True)
        app.transfer = cast(LiveTransfer, run)
    if name == "shares":
        asked = dict(zip(shared.NAMES, ["2", "@4", "3", "4Gbit", "1.5"], strict=True))
        save_shares_draft(SharesDraft(asked=asked))
        shared.run_in(app, shared.RecordedShares(shared.under_way()))
    return app


async def picture(home: Path, name: str, text: Sequence[str] = ()) -> str:
    """The screen of that name, as SVG without what differs from run to run.

    It is taken as soon as it says `text`; on a busy host the last lines are drawn late.
    """
    with _fixed_world():
        app = _app(home, name)
        async with app.run_test(size=SIZE) as pilot:
            app.go(name)
            await _drawn(pilot)
            if name in _KEYS:
                await pilot.press(_KEYS[name])
                await _drawn(pilot)
            for _ in range(_MOST_ROUNDS if text else _ROUNDS):
                await _drawn(pilot)
                svg = _settled(app.export_screenshot(title="advisor"))
                if text_in(svg) == text:
                    break
            return svg


async def _drawn(pilot: Pilot[int]) -> None:
    """What is drawn from a timer is drawn by then, on a quiet host."""
    await settle(pilot)
    await pilot.pause(0.6)
    await pilot.pause()


def _settled(svg: str) -> str:
    """Without the id that rich draws from the content, and without a font of another host."""
    [number] = set(re.findall(r"terminal-(\d+)-matrix", svg))
    svg = svg.replace(f"terminal-{number}", "terminal")
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return svg.replace("Fira Code", "DejaVu Sans Mono")


def text_in(svg: str) -> list[str]:
    """What a picture says, row by row."""
    rows: dict[float, list[tuple[float, str]]] = {}
    for x, y, text in re.findall(r'<text [^>]*?x="([\d.]+)" y="([\d.]+)"[^>]*>(.*?)</text>', svg):
        rows.setdefault(float(y), []).append((float(x), html.unescape(text)))
    return [
        " ".join("".join(part for _, part in sorted(row)).split())
        for _, row in sorted(rows.items())
    ]


def walk(pictures: Sequence[str]) -> str:
    """One SVG that shows one picture after the other, without a script."""
    total_s = _FRAME_S * len(pictures)
    size = re.search(r'viewBox="([^"]+)"', pictures[0])
    assert size
    share = 100 / len(pictures)
    parts = []
    for number, svg in enumerate(pictures):
        own = svg.replace("terminal-", f"step{number}-").replace(
            'class="terminal', f'class="step{number}'
        )
        own = own.replace(".terminal", f".step{number}")
        parts.append(f'<g class="frame" style="animation-delay: {number * _FRAME_S}s">{own}</g>')
    style = (
        f"@keyframes shown {{ 0%, {share:.2f}% {{ visibility: visible }} "
        f"{share + 0.01:.2f}%, 100% {{ visibility: hidden }} }} "
        f".frame {{ visibility: hidden; animation: shown {total_s}s step-end infinite }}"
    )
    body = "\n".join(parts)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size[1]}">'
    return f"{head}<style>{style}</style>\n{body}</svg>\n"
