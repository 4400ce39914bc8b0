"""A session of transports over a simulated path, in virtual time: no socket, no waiting.

The paths are models of TCP and UDT: flows limited by windows, buffers and loss, a bottleneck that
they share with others, queues too shallow for one loss-based flow, hosts with a limit of their own.
They are other formulas than those of `advisor/models/response.py`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from advisor.advising.budget import Budget, default_budget_s
from advisor.advising.choosing import ranking_of
from advisor.advising.confirming import confirm
from advisor.advising.contenders import Ranking, contenders, rank_contenders
from advisor.advising.context import Context, PriorResults
from advisor.advising.prober import Probed
from advisor.advising.profiling import measure_baselines, stages_of
from advisor.advising.recorder import ProbeRecorder
from advisor.advising.searching import search_all, search_transports
from advisor.domain import events as ev
from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Endpoint, Pair
from advisor.domain.measurement import EndLoad, Measurement, Outcome
from advisor.domain.path import PathFacts
from advisor.domain.space import Setting, processes_of
from advisor.models.steadiness import probe_length
from advisor.runtime.control import Control
from advisor.runtime.events import EventEmitter
from advisor.runtime.request import AdviceRequest
from advisor.testing.samples import a_host, a_path

MIB = 2**20
_SET_UP_S = 0.4
_MOST_STREAMS = 25


@dataclass(frozen=True, kw_only=True)
class SimulatedPath:
    """`queue`: in bandwidth-delay products. `load`: competing flows. `spread`: relative, of a
    probe. `auto_bytes`: the kernels' maximum for autotuning; `asked_bytes`: for programs.
    `host_bps`: what the hosts can do. `core_bps`: what one process can do, by its one core of so
    many `cores`. `libiperf`: its version at both ends. `can_spread`: whether the agent can run
    several probes at once. `known`: whether the link's speed is."""

    name: str
    rate_bps: float = 1e9
    rtt_s: float = 0.05
    loss: float = 0.0
    control: str = "cubic"
    queue: float = 1.0
    load: int = 0
    spread: float = 0.01
    mtu_bytes: int = 1500
    auto_bytes: int = 64 * MIB
    asked_bytes: int = 4 * MIB
    host_bps: float = math.inf
    core_bps: float = math.inf
    cores: int = 8
    libiperf: str = "3.12"
    can_spread: bool = True
    udt_share: float = 0.7
    known: bool = False

    @property
    def facts(self) -> PathFacts:
        host = a_host(
            congestion=self.control,
            cores=self.cores,
            versions={"libiperf": self.libiperf},
            link_bps=None,
            receive_max_bytes=self.asked_bytes,
            send_max_bytes=self.asked_bytes,
            tcp_rmem_bytes=(4096, 131072, self.auto_bytes),
            tcp_wmem_bytes=(4096, 16384, self.auto_bytes),
        )
        return a_path(
            rtt_s=self.rtt_s,
            mtu_bytes=self.mtu_bytes,
            bandwidth_bps=self.rate_bps if self.known else None,
            source=host,
            destination=host,
        )

    @property
    def data_bps(self) -> float:
        """What is left of the rate without headers."""
        return self.rate_bps * (1 - 52 / self.mtu_bytes)

    def true_bps(self, subject: str, setting: Setting) -> float:
        if subject == "udt":
            return self._udt_bps(setting)
        flows, asked = int(setting["streams"]), int(setting["buffer_bytes"])
        window = asked * 1.35 if asked else self.auto_bytes / 2
        one_bps = min(window * 8 / self.rtt_s, self._loss_bps())
        hosts_bps = min(self.host_bps, self.core_bps * processes_of(setting))
        capacity_bps = min(self.data_bps * self._use_of_queue(flows), hosts_bps)
        share_bps = capacity_bps * flows / (flows + self.load)
        # Random losses make the sum of flows approach the path gradually.
        sharp = 4 if self.loss else 20
        return ((flows * one_bps) ** -sharp + share_bps**-sharp) ** (-1 / sharp)

    def load_of(self, subject: str, setting: Setting, bps: float) -> EndLoad | None:
        """Of each end: processes that share the work evenly."""
        if subject == "udt" or math.isinf(self.core_bps):
            return None
        cores = bps / self.core_bps
        thread_cores = min(1.0, cores / processes_of(setting))
        return EndLoad(
            process_cores=cores, host_share=min(1.0, cores / self.cores), thread_cores=thread_cores
        )

    def _loss_bps(self) -> float:
        if not self.loss or self.control == "bbr":
            return math.inf
        reno = 1.22 / math.sqrt(self.loss)
        cubic = (0.4 * 3.7 / 1.2) ** 0.25 * (self.rtt_s / self.loss) ** 0.75
        packets = reno if self.control == "reno" else max(reno, cubic)
        return packets * (self.mtu_bytes - 52) * 8 / self.rtt_s

    def _use_of_queue(self, flows: int) -> float:
        """The share of the path that loss-based flows use over a shallow queue."""
        if self.control == "bbr":
            return 1.0
        beta = 0.5 if self.control == "reno" else 0.7
        lost = max(0.0, 1 - beta * (1 + self.queue)) / 2
        return 1 - lost / flows

    def _udt_bps(self, setting: Setting) -> float:
        window_bps = int(setting["buffer_bytes"]) * 8 / (self.rtt_s + 0.01)
        share = self.udt_share * self.data_bps * (1 if not self.load else 0.5)
        small = min(1.0, int(setting["block_bytes"]) / 5000)
        return min(window_bps, share * (0.8 + 0.2 * small), self.host_bps / 2)

    def best_bps(self, most_streams: int = 25) -> float:
        return max(self.true_bps("tcp", setting) for setting in self.sweep(most_streams))

    def sweep(self, most_streams: int = 25) -> list[Setting]:
        """The settings of a sweep of TCP."""
        buffers = [0, MIB // 4, MIB, 4 * MIB]
        counts = [n for n in (1, 2, 3, 4, 6, 8, 12, 16, 20, 25) if n <= most_streams]
        return [
            {"streams": n, "buffer_bytes": b, "congestion": self.control}
            for n in counts
            for b in buffers
            if b <= self.asked_bytes
        ]

    def cheapest_flows(self, within: float = 0.02) -> int:
        best_bps = self.best_bps()
        return min(
            int(s["streams"])
            for s in self.sweep()
            if self.true_bps("tcp", s) >= (1 - within) * best_bps
        )


class Runner:
    """Measures the model: a probe takes as long as a real one, in virtual time."""

    def __init__(self, path: SimulatedPath, seed: int) -> None:
        self.rtt_s = path.rtt_s
        self.can_spread = path.can_spread
        self.now_s = 0.0
        self.sent_bytes = 0.0
        self._path = path
        self._rng = np.random.default_rng([seed, 77])

    def clock(self) -> float:
        return self.now_s

    def is_transport(self, _subject: str) -> bool:
        return True

    def next_probe_s(self, _subject: str = "", _setting: Setting | None = None) -> float:
        return probe_length(self.rtt_s).ceiling_s + self._set_up_s(_MOST_STREAMS)

    def _set_up_s(self, streams: int) -> float:
        return _SET_UP_S + 2 * self.rtt_s * streams

    async def update_rtt(self) -> None:
        return None

    async def run(self, subject: str, setting: Setting, _watcher: Any) -> Probed:
        return Probed(self._outcome(subject, setting), b"")

    def _outcome(self, subject: str, setting: Setting) -> Outcome:
        path, length = self._path, probe_length(self.rtt_s)
        true_bps = path.true_bps(subject, setting)
        spread = max(path.spread, 0.05 if subject == "udt" else 0.0)
        bps = true_bps * math.exp(spread * float(self._rng.standard_normal()) - spread**2 / 2)
        bps = min(bps, path.data_bps * 1.005)
        lossy = path.loss > 0 or (true_bps > 0.97 * path.data_bps and path.control != "bbr")
        lasted_s = length.lossy_floor_s if lossy else length.floor_s * 1.4
        elapsed_s = lasted_s + self._set_up_s(int(setting.get("streams", 1)))
        self.now_s += elapsed_s
        self.sent_bytes += bps * lasted_s / 8
        return Measurement(
            throughput_bps=bps,
            stderr_bps=bps * min(spread, 0.02) / 2,
            intervals=[],
            steady_from=0,
            settled=spread < 0.1,
            elapsed_s=elapsed_s,
            sender=path.load_of(subject, setting, bps),
            receiver=path.load_of(subject, setting, bps),
        )


class _Store:
    def append(self, _record: Any) -> None:
        pass


@dataclass
class SimulatedAdvice:
    """What a simulated session did and found."""

    ranking: Ranking
    seconds: float
    sent_bytes: float
    probes: list[Any]
    ends: list[tuple[str, str]] = field(default_factory=list)

    @property
    def subject(self) -> str:
        return self.ranking.candidates[self.ranking.chosen].subject

    @property
    def setting(self) -> Setting:
        return self.ranking.candidates[self.ranking.chosen].setting


async def simulate(
    path: SimulatedPath,
    seed: int,
    *,
    earlier: Sequence[Any] = (),
    more_s: float = 0.0,
    decides: bool = True,
    runner_of: type[Runner] = Runner,
    **asked: Any,
) -> SimulatedAdvice:
    """Run a session, and choose. `asked`: fields of the request.

    `decides`: False for a session that divides all of its time among fixed stages and rounds, as
    those of a tool do, and those of transports did.
    """
    request = AdviceRequest(destination=Endpoint("there"), seed=seed, **asked)
    pair, facts, runner = Pair("here", "there"), path.facts, runner_of(path, seed)
    events: list[ev.AnyEvent] = []
    total_s = request.budget_s or default_budget_s(path.rtt_s)
    emitter = EventEmitter(events.append, runner.clock)
    context = Context(
        request=request,
        pair=pair,
        path=facts,
        budget=Budget(more_s or total_s, runner.clock, 1.0),
        history=PriorResults(),
        control=Control(),
        events=emitter,
        runner=runner,  # type: ignore[arg-type]  # A runner of virtual probes.
        recorder=ProbeRecorder(_Store(), "s", pair, request, facts, earlier),  # type: ignore[arg-type]
    )
    if more_s:
        context.order_more(more_s)
    stages = stages_of(context)
    spaces = {stage.subject: stage.space(context) for stage in stages}
    if decides:
        await search_transports(context, stages, spaces)
        ranking = ranking_of(request, facts, context.probes, [], spaces)
    else:
        await measure_baselines(context, stages)
        await search_all(context, stages)
        await confirm(context, [], spaces)
        ranking = rank_contenders(contenders(context.probes, [], spaces), spaces)
    assert ranking is not None
    ends = [(e.stage, e.reason) for e in events if isinstance(e, ev.StageEnded)]
    return SimulatedAdvice(ranking, runner.now_s + 1.0, runner.sent_bytes, context.probes, ends)


def dataset(size_bytes: int) -> Dataset:
    return Dataset(total_bytes=size_bytes)
