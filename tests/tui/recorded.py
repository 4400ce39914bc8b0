"""Real sessions, as they were told: one over 20 ms and 200 Mbit/s, and that of `advisor demo`."""

import gzip
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import msgspec

from advisor.domain.events import AnyEvent
from advisor.store.event_log import kept_events
from advisor.store.layout import shipped_recording
from advisor.tui.app import AdvisorApp
from advisor.tui.features.advising.live_session import LiveSession
from advisor.tui.features.advising.session_model import SessionModel

_FILE = Path(__file__).parent / "recordings" / "lab-20ms-200mbit.jsonl.gz"


def events() -> list[AnyEvent]:
    decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)
    return [decoder.decode(line) for line in gzip.decompress(_FILE.read_bytes()).splitlines()]


async def _nothing() -> None:
    return None


def over(app: AdvisorApp, *, is_running: bool = False) -> AdvisorApp:
    """With the session of the demo as the one that runs, or ran last."""
    folder = shipped_recording()
    assert folder
    model = SessionModel(kept_events(folder))
    session = SimpleNamespace(model=model, is_running=is_running, close=_nothing)
    app.session = cast(LiveSession, session)
    return app
