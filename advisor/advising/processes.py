"""One probe whose streams are spread over several processes: one of each end for each part.

A program that has one thread for all its streams cannot exceed what one core does. Several of them
can, each with its part of the streams. They are an inner matter of one probe: the agent is asked
for the receiving ends of all parts at once, in one turn and on ports of their own, and what the
processes of each end report is merged into the totals of all (`merging.py`). All begin together.
If one fails, all end, and the probe has its failure.
"""

from collections.abc import Sequence

from advisor.advising.merging import Merger
from advisor.advising.prober import Course, Meeting, Probe, Probed, Watcher, result_of
from advisor.advising.simultaneous import run_at_once
from advisor.agent import messages as m
from advisor.agent.client import AgentLink
from advisor.api.transport import Sample
from advisor.domain.path import PathFacts
from advisor.probing.end import Spares


async def measure_over_processes(
    link: AgentLink,
    spares: Spares,
    path: PathFacts,
    requests: Sequence[m.OpenProbe],
    course: Course,
    watcher: Watcher,
) -> Probed:
    """Run the parts of one probe, at most `messages.PROBES_LIMIT`, all at the same time.

    `course`: of the whole probe; its meeting is that of all parts. Every failure is an outcome,
    except a lost agent, which raises PeerGone. Only for agents that know several probes.
    """
    received, sent = Merger(len(requests)), Merger(len(requests))
    probes = [
        Probe(spares, request, path, _Part(course, number, received, sent))
        for number, request in enumerate(requests)
    ]
    receivers = await run_at_once(link, requests, probes, watcher)
    return result_of(course, probes, receivers)


class _Part:
    """What one part reports: the course receives the totals of all."""

    def __init__(self, course: Course, number: int, received: Merger, sent: Merger) -> None:
        self._course = course
        self._number = number
        self._received = received
        self._sent = sent

    @property
    def meeting(self) -> Meeting:
        return self._course.meeting

    def add_received(self, sample: Sample) -> None:
        if totals := self._received.add(self._number, sample):
            self._course.add_received(totals)

    def add_sent(self, sample: Sample) -> None:
        if totals := self._sent.add(self._number, sample):
            self._course.add_sent(totals)

    def add_versions(self, side: str, versions: dict[str, str]) -> None:
        self._course.add_versions(side, versions)
