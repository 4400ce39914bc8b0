"""Makes the pictures of the README from the session that `advisor demo` plays.

.venv/bin/python scripts/screenshots.py
"""

import asyncio
import os
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from advisor.store.event_log import kept_events
from advisor.store.history import Store
from advisor.store.layout import shipped_recording
from advisor.tui.app import AdvisorApp
from advisor.tui.features.advising.draft import Draft
from advisor.tui.features.advising.live_session import LiveSession
from advisor.tui.features.advising.session_model import SessionModel

FOLDER = Path(__file__).parents[1] / "docs" / "screens"
SIZE = (120, 40)


async def _nothing() -> None:
    return None


async def main() -> None:
    """One picture a step."""
    recording = shipped_recording()
    assert recording
    with tempfile.TemporaryDirectory() as home:
        os.environ["XDG_STATE_HOME"] = os.environ["XDG_CACHE_HOME"] = home
        app = AdvisorApp(Store(Path(home)), Draft())
        model = SessionModel(kept_events(recording))
        session = SimpleNamespace(model=model, is_running=False, close=_nothing)
        app.session = cast(LiveSession, session)
        async with app.run_test(size=SIZE) as pilot:
            for step in ("profiling", "comparison", "advice"):
                app.go(step)
                await pilot.pause(1.0)
                app.save_screenshot(f"{step}.svg", str(FOLDER))


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    asyncio.run(main())
