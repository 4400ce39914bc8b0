"""The events of real sessions: over two paths of a lab, and that of `advisor demo`."""

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

_FOLDER = Path(__file__).parent / "recordings"


def events(name: str = "lab-20ms-200mbit") -> list[AnyEvent]:
    decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)
    lines = gzip.decompress((_FOLDER / f"{name}.jsonl.gz").read_bytes()).splitlines()
    return [decoder.decode(line) for line in lines]


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
