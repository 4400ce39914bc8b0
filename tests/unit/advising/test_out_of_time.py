"""A probe that is not over when the budget is: what the user reads."""

import asyncio
from typing import Any

import pytest

from advisor.advising import context as module
from advisor.advising.context import OutOfTime
from advisor.advising.recorder import ProbePurpose
from advisor.domain.endpoints import Endpoint
from advisor.domain.measurement import Interval
from advisor.runtime.request import AdviceRequest

from .contexts import a_context


class _Endless:
    """Never ends. `begins`: whether data flow, or it only waits for its turn."""

    rtt_s = 0.05

    def __init__(self, begins: bool) -> None:
        self._begins = begins

    def clock(self) -> float:
        return 0.0

    def is_transport(self, _subject: str) -> bool:
        return False

    def next_probe_s(self, *_: object) -> float:
        return 0.0

    async def run(self, _subject: str, _setting: object, watcher: Any) -> None:
        if self._begins:
            watcher.interval(Interval(0.0, 0.1, 1000))
        await asyncio.Event().wait()


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("begins", "words"), [(True, "before the last probe was complete"), (False, "for its turn")]
)
async def test_others_are_named_only_where_it_waited_for_them(
    monkeypatch: pytest.MonkeyPatch, begins: bool, words: str
) -> None:
    monkeypatch.setattr(module, "_TOOL_LATE_S", 0.05)
    request = AdviceRequest(destination=Endpoint("there"), tool="rclone")
    context = a_context(request, _Endless(begins), 0.0)
    purpose = ProbePurpose(stage="rclone", kind="search")
    with pytest.raises(OutOfTime, match=words):
        await context.measure("rclone", {"concurrency": 1}, purpose)
