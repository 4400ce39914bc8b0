"""Runs one probe: selects the measurer of the subject, reconnects to a lost agent, can stop."""

import asyncio
from collections.abc import Callable
from typing import Final, Protocol

from advisor.advising.prober import Probed, Watcher
from advisor.advising.source_turn import SourceTurn
from advisor.agent.client import AgentLink
from advisor.agent.peer_errors import PeerError, PeerGone
from advisor.api.server_files import ServerFilesTool
from advisor.domain.measurement import Failure, FailureKind, Measurement
from advisor.domain.path import PathFacts
from advisor.domain.problem import ProblemError, ProblemKind
from advisor.domain.space import Setting
from advisor.models.smoothing import smoothed
from advisor.models.steadiness import ProbeLength, probe_length
from advisor.runtime.connect import FarEnd
from advisor.runtime.round_trip import GIVEN, rtt_again_s
from advisor.runtime.stop import Stopped, unless_stopped

_FIRST_OVERHEAD_S: Final = 0.3
"""Assumed time for set-up and end of a probe, until one was measured."""


class PeerLost(ProblemError):
    """The agent is gone and cannot be reached again; the message is a sentence."""

    kind = ProblemKind.LOST


class Measurer(Protocol):
    """Measures settings of a subject other than a transport: a disk or a tool."""

    def next_probe_s(self, setting: Setting | None = None) -> float:
        """The time that one more probe may take, of a setting if it is known; in seconds."""

    def waits_there(self, setting: Setting) -> bool:
        """Whether a probe waits for its turn at the destination, which is not reported."""

    async def measure(self, link: AgentLink, setting: Setting, watcher: Watcher) -> Probed:
        """One probe. Every failure is an outcome, except a lost agent, which raises PeerGone.

        If cancelled, it leaves no process on either side and none of its files.
        """


class TransportMeasurer(Protocol):
    """Measures settings of transports, memory to memory."""

    async def measure(
        self,
        link: AgentLink,
        transport: str,
        setting: Setting,
        length: ProbeLength,
        watcher: Watcher,
    ) -> Probed:
        """As in `Measurer`."""

    async def close(self) -> None:
        """End the processes that are kept ready."""


class ProbeRunner:
    """Runs the probes of one session. `stop` ends a running probe at once.

    `notice` is called with a sentence when the agent is lost.
    """

    def __init__(
        self,
        far_end: FarEnd,
        transports: TransportMeasurer,
        path: PathFacts,
        stop: asyncio.Event,
        notice: Callable[[str], None],
    ) -> None:
        self._far_end = far_end
        self._transports = transports
        self._path = path
        self._stop = stop
        self._notice = notice
        self._measurers: dict[str, Measurer] = {}
        self.turn = SourceTurn(path.destination_address.partition("%")[0])
        """The turn on this host."""
        self._is_lost = False
        self._overhead_s = _FIRST_OVERHEAD_S
        self.rtt_s = path.rtt_s
        """The smoothed round-trip time, in seconds."""
        self._is_rtt_fixed = False

    @property
    def link(self) -> AgentLink:
        """The present conversation with the agent."""
        return self._far_end.link

    @property
    def stand_in(self) -> ServerFilesTool | None:
        """The tool whose server stands in for an agent; None where one runs there."""
        return self._far_end.reached.stand_in

    @property
    def can_spread(self) -> bool:
        """Whether the agent can run the receiving ends of several processes at once."""
        return self._far_end.link.knows_several_probes

    @property
    def length(self) -> ProbeLength:
        """How long a probe may and must last at the smoothed round-trip time."""
        return probe_length(self.rtt_s)

    def use(self, subject: str, measurer: Measurer) -> None:
        """Measure this subject with `measurer` from now on; all others are transports."""
        self._measurers[subject] = measurer

    def is_transport(self, subject: str) -> bool:
        """Whether the subject is measured memory to memory."""
        return subject not in self._measurers

    def next_probe_s(self, subject: str = "", setting: Setting | None = None) -> float:
        """The time that one more probe of this subject may take, of a setting if it is known; in
        seconds."""
        if measurer := self._measurers.get(subject):
            return measurer.next_probe_s(setting)
        return self.length.ceiling_s + self._overhead_s

    async def run(self, subject: str, setting: Setting, watcher: Watcher) -> Probed:
        """One probe. A lost agent fails it; the next probe reconnects first.

        Raises Stopped, PeerLost.
        """
        if self._stop.is_set():
            raise Stopped
        if self._is_lost:
            await self._reconnect()
        try:
            probed = await unless_stopped(self._measure(subject, setting, watcher), self._stop)
        except PeerGone as gone:
            self._is_lost = True
            failure = Failure(kind=FailureKind.PEER_GONE, message=str(gone), elapsed_s=0.0)
            return Probed(failure, b"")
        self._learn_overhead(subject, probed)
        return probed

    async def _measure(self, subject: str, setting: Setting, watcher: Watcher) -> Probed:
        measurer = self._measurers.get(subject)
        if measurer and measurer.waits_there(setting):
            await self.turn.awaited(watcher)
            return await measurer.measure(self.link, setting, watcher)
        if measurer:
            async with self.turn.held_alone(watcher):
                return await measurer.measure(self.link, setting, watcher)
        async with self.turn.held(watcher) as reporting:
            return await self._transports.measure(
                self.link, subject, setting, self.length, reporting
            )

    def _learn_overhead(self, subject: str, probed: Probed) -> None:
        outcome = probed.outcome
        if self.is_transport(subject) and isinstance(outcome, Measurement) and outcome.intervals:
            self._overhead_s = max(0.0, outcome.elapsed_s - outcome.intervals[-1].end_s)

    async def _reconnect(self) -> None:
        self._notice("the agent was lost: reconnecting")
        try:
            await self._far_end.connect()
        except PeerError as error:
            raise PeerLost.about("the agent was lost and cannot be reached again", error) from None
        self._is_lost = False

    async def update_rtt(self) -> None:
        """Measure the round-trip time of the idle path again, and smooth it.

        One that was given because nothing answers stays as it is.
        """
        if self._is_rtt_fixed:
            return
        rtt_s = await rtt_again_s(self._far_end.reached, self._path)
        if rtt_s is not None:  # A lost packet says nothing about the RTT.
            self.rtt_s = smoothed(self.rtt_s, rtt_s)
        elif self._path.rtt_method == GIVEN:
            self._is_rtt_fixed = True

    async def close(self) -> None:
        """End the processes that are kept ready. The connection is the session's."""
        await self._transports.close()
