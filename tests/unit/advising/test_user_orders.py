"""What a user may order to be tried."""

from typing import Any

import pytest

from advisor.advising.prober import Probed
from advisor.advising.user_orders import USER_STAGE, apply_user_orders
from advisor.domain import events as ev
from advisor.domain import orders as o
from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Endpoint
from advisor.domain.space import Setting
from advisor.runtime.request import AdviceRequest
from advisor.testing.samples import measured

from .contexts import a_context

FILES = Dataset(total_bytes=10**9, path="/data", files=10, largest="f", largest_bytes=10**8)
OF_RCLONE: Setting = {"concurrency": 2, "parallelism": 1, "outstanding": 64}
OF_TCP: Setting = {"streams": 2, "buffer_bytes": 0, "congestion": "cubic"}


class _Runner:
    rtt_s = 0.05

    def clock(self) -> float:
        return 0.0

    def is_transport(self, subject: str) -> bool:
        return subject != "rclone"

    def next_probe_s(self, _subject: str = "", _setting: Setting | None = None) -> float:
        return 1.0

    async def run(self, _subject: str, _setting: Setting, _watcher: Any) -> Probed:
        return Probed(measured(1e9), b"")


async def _tried(tool: str | None, wanted: o.Try) -> tuple[list[str], list[str]]:
    """The subjects that were measured, and the notices."""
    request = AdviceRequest(destination=Endpoint("there"), tool=tool, dataset=FILES)
    events: list[ev.AnyEvent] = []
    context = a_context(request, _Runner(), 60.0, events=events)
    context.control.tries.append(wanted)
    await apply_user_orders(context)
    assert all(one.stage == USER_STAGE for one in context.probes)
    notices = [one.message for one in events if isinstance(one, ev.Notice)]
    return [one.subject for one in context.probes], notices


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("tool", "subject", "setting"), [("rclone", "rclone", OF_RCLONE), (None, "tcp", OF_TCP)]
)
async def test_a_setting_of_what_the_session_measures_is_tried(
    tool: str | None, subject: str, setting: Setting
) -> None:
    assert await _tried(tool, o.Try(subject=subject, setting=setting)) == ([subject], [])


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("tool", "subject", "setting", "why"),
    [
        ("rclone", "tcp", OF_TCP, "this session measures rclone"),
        (None, "rclone", OF_RCLONE, "this session measures tcp"),
        (None, "tcp", {"streams": 2}, "it needs a number of buffer_bytes"),
        (None, "tcp", OF_TCP | {"streams": "two"}, "it needs a number of streams"),
        ("rclone", "rclone", OF_RCLONE | {"concurrency": 2**17}, "a number of concurrency"),
    ],
)
async def test_what_it_cannot_measure_is_refused_with_the_reason(
    tool: str | None, subject: str, setting: Setting, why: str
) -> None:
    subjects, [notice] = await _tried(tool, o.Try(subject=subject, setting=setting))
    assert subjects == []
    assert notice.startswith("not tried: ")
    assert why in notice
