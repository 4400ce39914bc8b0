"""Runs several probes at once, each over a connection of its own."""

import asyncio
from collections.abc import Sequence

import msgspec

from advisor.advising.prober import (
    Course,
    Meeting,
    Probe,
    Probed,
    Watcher,
    open_probe,
    result_of,
)
from advisor.agent import messages as m
from advisor.agent.client import AgentLink
from advisor.domain.measurement import Failure, FailureKind, Measurement
from advisor.domain.path import PathFacts
from advisor.domain.space import Setting
from advisor.models.steadiness import ProbeLength
from advisor.probing.end import Spares


class Lane(msgspec.Struct, frozen=True, kw_only=True):
    """What is sent over one of several connections: this transport at this setting."""

    path: PathFacts
    transport: str
    setting: Setting


async def measure_at_once(
    link: AgentLink,
    spares: Spares,
    lanes: Sequence[Lane],
    length: ProbeLength,
    watcher: Watcher,
) -> list[Probed]:
    """One probe over each connection, all at the same time, in the order of `lanes`.

    They begin together, and end when the mean of each is known well enough. Their throughputs are
    those of the time in which all of them were steady: what one got while another had not begun is
    left out. If one fails, all end, with its failure. `watcher`: hears how long they have to
    wait, and no interval. Raises PeerError for a lost agent.
    """
    meeting = Meeting(len(lanes))
    courses = [Course(length, lambda _: None, meeting, n) for n in range(len(lanes))]
    requests = [open_probe(one.path, one.transport, one.setting, length) for one in lanes]
    probes = [
        Probe(spares, request, lane.path, course)
        for lane, request, course in zip(lanes, requests, courses, strict=True)
    ]
    watcher = msgspec.structs.replace(watcher, interval=lambda _: None)
    receivers = await run_at_once(link, requests, probes, watcher)
    probed = [
        result_of(course, [probe], [receiver])
        for course, probe, receiver in zip(courses, probes, receivers, strict=True)
    ]
    return _over_the_common_time(probed, courses)


async def run_at_once(
    link: AgentLink,
    requests: Sequence[m.OpenProbe],
    probes: Sequence[Probe],
    watcher: Watcher,
) -> list[m.ProbeEnded]:
    """Run these probes to their common end; how the receiving end of each ended.

    `requests`: the receiving ends that the agent is asked for, in the order of `probes`. `watcher`:
    of the first of them; what is said of the queue is said about all.
    """
    others = Watcher(lambda _: None, lambda _: None)
    async with link.probes(requests) as replies:
        running = [
            asyncio.create_task(probe.run(of_probe, others if number else watcher))
            for number, (probe, of_probe) in enumerate(zip(probes, replies, strict=True))
        ]
        try:
            await asyncio.gather(*running)
        finally:
            for task in running:
                task.cancel()
            await asyncio.wait(running)
    return [one.last for one in replies]


def _over_the_common_time(probed: Sequence[Probed], courses: Sequence[Course]) -> list[Probed]:
    if any(isinstance(one.outcome, Failure) for one in probed):
        return list(probed)
    began_s = max(course.steady_at_s for course in courses)
    return [_since(began_s, one, course) for one, course in zip(probed, courses, strict=True)]


def _since(began_s: float, probed: Probed, course: Course) -> Probed:
    assert isinstance(probed.outcome, Measurement)
    mean_bps = course.mean_bps_since(began_s)
    if mean_bps > 0:
        outcome = msgspec.structs.replace(probed.outcome, throughput_bps=mean_bps)
        return msgspec.structs.replace(probed, outcome=outcome)
    failure = Failure(
        kind=FailureKind.TIMED_OUT,
        message="the probes did not send at the same time",
        elapsed_s=probed.outcome.elapsed_s,
    )
    return msgspec.structs.replace(probed, outcome=failure)
