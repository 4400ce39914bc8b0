"""One end of a probe, in a child of its own."""

import contextlib

import pytest

from advisor.api.transport import Ready, ReceiveOrder
from advisor.probing.end import ProbeEnd, Spares

ORDER = ReceiveOrder(
    setting={"streams": 1, "buffer_bytes": 0, "congestion": "reno"},
    source_address="127.0.0.1",
    token="0" * 32,
    ports=(0, 0),
    ceiling_s=60.0,
    sample_every_s=0.1,
)


async def until_it_listens(end: ProbeEnd) -> None:
    async with contextlib.aclosing(end.reports()) as reports:
        async for report in reports:
            if isinstance(report, Ready):
                return


@pytest.mark.asyncio
async def test_what_libiperf_printed_is_kept_when_it_is_ended_early(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    spares = Spares()
    async with spares.take() as end:
        await end.give("tcp", ORDER)
        await until_it_listens(end)
    await spares.close()
    assert b"Server listening on" in end.raw_output
