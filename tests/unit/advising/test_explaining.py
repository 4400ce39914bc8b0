"""Which of two ends explains why a probe failed."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from typing import cast

import pytest

from advisor.advising.prober import Course, Probe, Watcher, result_of
from advisor.agent import messages as m
from advisor.agent.replies import Replies
from advisor.api.transport import Report, SendOrder, Trouble
from advisor.domain.measurement import Failure, FailureKind
from advisor.models.steadiness import probe_length
from advisor.probing.end import Spares
from advisor.testing.samples import a_path

_LATER_S = 0.1
_REQUEST = m.OpenProbe(
    transport="tcp",
    setting={"streams": 1},
    source_address="127.0.0.1",
    token="0" * 32,
    ceiling_s=5.0,
    sample_every_s=0.1,
)


class _Sender:
    """A sending end that fails after a while; also the place it is taken from."""

    raw_output = b""

    def __init__(self, after_s: float, trouble: Trouble) -> None:
        self._after_s = after_s
        self._trouble = trouble

    @contextlib.asynccontextmanager
    async def take(self) -> AsyncIterator["_Sender"]:
        yield self

    async def give(self, transport: str, order: SendOrder) -> None:
        """It needs no order."""

    async def reports(self) -> AsyncIterator[Report]:
        await asyncio.sleep(self._after_s)
        yield self._trouble


def _receiver(after_s: float, kind: FailureKind, message: str) -> Replies:
    replies: Iterator[m.Reply] = iter(
        (m.ProbeReady(port=5201), m.ProbeEnded(kind=kind, message=message))
    )

    async def read() -> m.Reply:
        reply = next(replies)
        if isinstance(reply, m.ProbeEnded):
            await asyncio.sleep(after_s)
        return reply

    return Replies(read)


@pytest.mark.parametrize(
    ("sender_s", "sender", "receiver", "message"),
    [
        (_LATER_S, FailureKind.REJECTED_SETTING, FailureKind.PEER_GONE, "sender"),
        (0.0, FailureKind.RESET, FailureKind.BUSY, "receiver"),
        (_LATER_S, FailureKind.RESET, FailureKind.BUSY, "receiver"),
        (0.0, FailureKind.REJECTED_SETTING, FailureKind.PEER_GONE, "sender"),
        (_LATER_S, FailureKind.RESET, FailureKind.PEER_GONE, "receiver"),
    ],
)
@pytest.mark.asyncio
async def test_the_end_that_knows_the_reason_explains_a_failure(
    sender_s: float, sender: FailureKind, receiver: FailureKind, message: str
) -> None:
    end = _Sender(sender_s, Trouble(kind=sender, message="sender"))
    course = Course(probe_length(0.02), lambda _: None)
    probe = Probe(cast(Spares, end), _REQUEST, a_path(), course)
    replies = _receiver(_LATER_S - sender_s, receiver, "receiver")
    await probe.run(replies, Watcher(lambda _: None, lambda _: None))
    outcome = result_of(course, [probe], [m.ProbeEnded()]).outcome
    assert isinstance(outcome, Failure)
    assert outcome.message == message
