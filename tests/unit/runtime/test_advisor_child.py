"""What a command that a screen or a notebook started reports."""

import sys
from typing import Any

import msgspec
import pytest

from advisor.domain import events as ev
from advisor.runtime.advisor_child import AdvisorChild


@pytest.mark.asyncio
async def test_an_event_may_be_long() -> None:
    """As the evidence of hundreds of days of transfers."""
    short = ev.Notice(at_s=0.0, message="short")
    long = ev.Notice(at_s=1.0, message="é" * 100_000)
    text = (
        "import sys\n"
        "print('no event: ' + 'x' * 200_000)\n"
        f"short, long = {msgspec.json.encode(short).decode()!r}, '\\xe9' * 100_000\n"
        "print(short)\n"
        'sys.stdout.write(short.replace("short", long).replace("0.0", "1.0") + "\\n")\n'
        "print(short)\n"
    )
    child = await AdvisorChild.started_by([sys.executable, "-X", "utf8", "-c", text])
    seen: list[Any] = [event async for event in child.events()]
    assert (await child.ended())[0] == 0
    assert seen == [short, long, short]
