"""Probes that an agent cannot begin, and those that end before their turn comes."""

import asyncio
import contextlib
import errno
import os
from collections.abc import AsyncIterator, Callable, Sequence

import pytest

from advisor.advising.prober import open_probe
from advisor.agent import messages as m
from advisor.agent.client import AgentLink
from advisor.agent.replies import Replies
from advisor.agent.turn import Turn
from advisor.domain.measurement import FailureKind
from advisor.hosts.processes import Child
from advisor.models.steadiness import probe_length
from advisor.probing import end
from advisor.testing.samples import a_path

from .linked import linked

PATH = a_path(source_address="127.0.0.1", destination_address="127.0.0.1", rtt_s=0.0001)
SETTING = {"streams": 1, "buffer_bytes": 2**18, "congestion": "reno"}


def a_request() -> m.OpenProbe:
    return open_probe(PATH, "tcp", SETTING, probe_length(0.0001))


@contextlib.asynccontextmanager
async def one(link: AgentLink) -> AsyncIterator[list[Replies]]:
    async with link.probe(a_request()) as replies:
        yield [replies]


@contextlib.asynccontextmanager
async def two(link: AgentLink) -> AsyncIterator[list[Replies]]:
    async with link.probes([a_request(), a_request()]) as several:
        yield several


Opened = Callable[[AgentLink], contextlib.AbstractAsyncContextManager[list[Replies]]]


@pytest.mark.parametrize("opened", [one, two])
@pytest.mark.usefixtures("own_turn")
def test_that_no_child_can_be_started_is_the_answer(
    monkeypatch: pytest.MonkeyPatch, opened: Opened
) -> None:
    async def start(_: Sequence[str]) -> Child:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(end, "start", start)

    async def run() -> None:
        async with asyncio.timeout(30), linked() as link:
            async with opened(link) as several:
                for replies in several:
                    async with asyncio.timeout(5):
                        reply = await anext(replies)
                    assert isinstance(reply, m.ProbeEnded)
                    assert reply.kind is FailureKind.CRASHED
                    assert reply.message == (
                        f"the probe's child cannot be started: {os.strerror(errno.EAGAIN)}"
                    )
            # The conversation continues in step.
            await link.round_trip()

    asyncio.run(run())


@pytest.mark.parametrize("opened", [one, two])
@pytest.mark.usefixtures("own_turn")
def test_a_probe_that_waits_for_its_turn_is_closed_at_once(opened: Opened) -> None:
    async def nobody_is_ahead(_: int) -> None:
        raise AssertionError("nothing measures here")

    async def run() -> None:
        async with asyncio.timeout(30), Turn().taken(nobody_is_ahead), linked() as link:
            for _ in range(2):
                async with opened(link) as several:
                    for replies in several:
                        assert isinstance(await anext(replies), m.TurnAwaited)
                assert all(replies.ended for replies in several)
                assert {replies.last.kind for replies in several} == {None}
                # Neither the link is lost, nor is the next probe refused.
                await link.round_trip()

    asyncio.run(run())
