"""Several probes at once: the replies about each are kept separate, and one failure ends all."""

import asyncio
from collections.abc import Sequence

import pytest

from advisor.advising.prober import Watcher
from advisor.advising.simultaneous import Lane, measure_at_once
from advisor.agent import messages as m
from advisor.agent.client import AgentLink
from advisor.agent.peer_errors import PeerError, PeerGone
from advisor.agent.replies import Inboxes
from advisor.domain.measurement import Failure, Measurement
from advisor.models.steadiness import probe_length
from advisor.probing.end import Spares
from advisor.testing.samples import a_path

from .linked import linked

LENGTH = probe_length(0.0001)
PATH = a_path(source_address="127.0.0.1", destination_address="127.0.0.1", rtt_s=0.0001)
SETTING = {"streams": 1, "buffer_bytes": 2**18, "congestion": "reno"}


def lane(transport: str = "tcp") -> Lane:
    return Lane(path=PATH, transport=transport, setting=SETTING)


# Nobody else measures here.
UNHEARD = Watcher(lambda _: None, lambda _: None)


async def repeated(
    link: AgentLink, spares: Spares, lanes: Sequence[Lane]
) -> list[Measurement | Failure]:
    """What was measured at once; where a failure spoilt it, again, as a session does."""
    for _ in range(3):
        probed = await measure_at_once(link, spares, lanes, LENGTH, UNHEARD)
        outcomes = [one.outcome for one in probed]
        if all(isinstance(one, Measurement) for one in outcomes):
            break
    return outcomes


async def at_once(*lanes: Lane) -> list[Measurement | Failure]:
    spares = Spares()
    async with linked() as link:
        try:
            outcomes = await repeated(link, spares, lanes)
            # The conversation continues in step.
            await link.round_trip()
            return outcomes
        finally:
            await spares.close()


def test_two_probes_at_once_each_have_a_throughput() -> None:
    outcomes = asyncio.run(at_once(lane(), lane()))
    assert all(isinstance(one, Measurement) and one.throughput_bps > 0 for one in outcomes)


def test_one_that_fails_ends_the_other() -> None:
    outcomes = asyncio.run(at_once(lane(), lane("no-such-transport")))
    assert [type(one) for one in outcomes] == [Failure, Failure]
    # Both say why, also the one that could have continued.
    assert all("no-such-transport" in one.message for one in outcomes if isinstance(one, Failure))


def test_stopping_leaves_the_agent_ready() -> None:
    async def stopped() -> None:
        spares = Spares()
        async with linked() as link:
            work = asyncio.create_task(
                measure_at_once(link, spares, [lane(), lane()], LENGTH, UNHEARD)
            )
            await asyncio.sleep(0.5)
            work.cancel()
            with pytest.raises(asyncio.CancelledError):
                await work
            [again] = await repeated(link, spares, [lane()])
            assert isinstance(again, Measurement)
        await spares.close()

    asyncio.run(stopped())


async def sorted_replies(said: Sequence[m.Reply | PeerError], probes: int) -> list[list[m.Reply]]:
    """What each probe receives of these replies; what ends it is not among it."""
    left = list(said)

    async def read() -> m.Reply:
        reply = left.pop(0)
        if isinstance(reply, PeerError):
            raise reply
        return reply

    inboxes = Inboxes(read, probes)
    await inboxes.sort()
    assert left == [], "it read what belongs to the next request"
    found: list[list[m.Reply]] = []
    for number in range(probes):
        found.append([])
        while not found[-1] or not isinstance(found[-1][-1], m.ProbeEnded | m.Refused):
            found[-1].append(await inboxes.next(number))
    return found


def test_replies_are_sorted_by_their_number() -> None:
    ready = m.OfProbe(number=1, reply=m.ProbeReady(port=5001))
    ends = [m.OfProbe(number=n, reply=m.ProbeEnded()) for n in (1, 0)]
    # One that was not opened, and one about a probe that has ended.
    strange = m.OfProbe(number=7, reply=m.ProbeReady(port=5002))
    late = m.OfProbe(number=1, reply=m.ProbeReady(port=5003))
    waiting = m.TurnAwaited(ahead=2)
    said = [waiting, ready, strange, ends[0], late, ends[1]]
    first, second = asyncio.run(sorted_replies(said, 2))
    assert first == [waiting, m.ProbeEnded()]
    assert second == [waiting, m.ProbeReady(port=5001), m.ProbeEnded()]


def test_a_refusal_is_about_all_of_them() -> None:
    refused = m.Refused(message="a probe of this session is still running")
    assert asyncio.run(sorted_replies([refused], 2)) == [[refused], [refused]]


def test_a_lost_agent_is_lost_for_all_of_them() -> None:
    async def lost() -> None:
        async def read() -> m.Reply:
            raise PeerGone("the connection ended")

        inboxes = Inboxes(read, 2)
        await inboxes.sort()
        for number in (0, 1, 1):
            with pytest.raises(PeerGone):
                await inboxes.next(number)

    asyncio.run(lost())
