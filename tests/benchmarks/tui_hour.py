"""An hour of profiling, fed to the screen as quickly as it takes it; prints the memory it has then.

Run by tui_bench. The hour is a recorded session again and again, as if its budget were extended.
"""

import asyncio
import gzip
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import psutil

from advisor.domain import events as ev
from advisor.store.history import Store
from advisor.tui.app import AdvisorApp
from advisor.tui.features.advising.draft import Draft
from advisor.tui.features.advising.live_session import LiveSession
from advisor.tui.features.advising.session_model import SessionModel

RECORDING = Path(__file__).parents[1] / "tui" / "recordings" / "lab-20ms-200mbit.jsonl.gz"
HOUR_S = 3600.0
_REDRAWS = 200


def hour() -> list[ev.AnyEvent]:
    """The recorded probes, one after the other, for an hour."""
    decoder: msgspec.json.Decoder[ev.AnyEvent] = msgspec.json.Decoder(ev.AnyEvent)
    recorded = [
        decoder.decode(line) for line in gzip.decompress(RECORDING.read_bytes()).splitlines()
    ]
    once = [e for e in recorded if not isinstance(e, ev.AdviceGiven | ev.SessionStarted)]
    length_s, events, began_s = recorded[-1].at_s, recorded[:1], 0.0
    ordinals = max(e.ordinal for e in once if isinstance(e, ev.ProbeEnded))
    round_ = 0
    while began_s < HOUR_S:
        for event in once:
            changed: dict[str, Any] = {"at_s": event.at_s + began_s}
            if ordinal := getattr(event, "ordinal", None):
                changed["ordinal"] = ordinal + round_ * ordinals
            events.append(msgspec.structs.replace(event, **changed))
        began_s, round_ = began_s + length_s, round_ + 1
    return events


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        app = AdvisorApp(Store(Path(folder)), Draft())
        model = SessionModel()
        app.session = cast(
            LiveSession, SimpleNamespace(model=model, is_running=True, close=_nothing)
        )
        events = hour()
        async with app.run_test(size=(120, 40)) as pilot:
            app.go("profiling")
            step = len(events) // _REDRAWS
            for first in range(0, len(events), step):
                for event in events[first : first + step]:
                    model.apply(event)
                await pilot.pause(0.6)
            probes = len(model.probes)
    memory = psutil.Process().memory_info().rss
    print(f"{memory / 1e6:.0f} MB ({probes} probes, {len(events)} events)")


async def _nothing() -> None:
    return None


if __name__ == "__main__":
    asyncio.run(main())
