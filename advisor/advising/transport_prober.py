"""Measures settings of transports: each by one probe, in one process at each end or in several."""

from advisor.advising.prober import Course, Meeting, Probe, Probed, Watcher, open_probe, result_of
from advisor.advising.processes import measure_over_processes
from advisor.agent.client import AgentLink
from advisor.domain.path import PathFacts
from advisor.domain.space import Setting, processes_of, spread_over_processes
from advisor.models.steadiness import ProbeLength
from advisor.probing.end import Spares
from advisor.traits import transport_traits


class Prober:
    """Measures settings of transports between this host and one agent, bound to its source address
    if the user chose that."""

    def __init__(self, path: PathFacts) -> None:
        self._path = path
        self._spares = Spares()

    async def close(self) -> None:
        """End the spare child process."""
        await self._spares.close()

    async def measure(
        self,
        link: AgentLink,
        transport: str,
        setting: Setting,
        length: ProbeLength,
        watcher: Watcher,
    ) -> Probed:
        """Run one probe.

        Every failure is an outcome, except a lost agent, which raises PeerGone.
        """
        self._spares.prepare()
        if processes_of(setting) > 1:
            parts = spread_over_processes(setting, transport_traits(transport).flow_parameter)
            requests = [open_probe(self._path, transport, part, length) for part in parts]
            meeting = Meeting(len(parts), courses=1)
            course = Course(length, watcher.interval, meeting, least_bps=watcher.least_bps)
            return await measure_over_processes(
                link, self._spares, self._path, requests, course, watcher
            )
        request = open_probe(self._path, transport, setting, length)
        course = Course(length, watcher.interval, least_bps=watcher.least_bps)
        probe = Probe(self._spares, request, self._path, course)
        async with link.probe(request) as replies:
            await probe.run(replies, watcher)
        return result_of(course, [probe], [replies.last])
