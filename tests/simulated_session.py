"""A session from disk to disk in virtual time, on a simulated tool.

The parts are those of a real session: space, baselines, slices, cost model, search, contenders,
ranking, advice. Only the tool and the clock are simulated. A probe costs the time of its transfer
and of the folder that the agent makes and removes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from advisor import registry
from advisor.advising.advice import AdviceInputs, advice_from_ranking
from advisor.advising.budget import default_budget_s
from advisor.advising.choosing import ranking_of
from advisor.advising.confirming import whole_last
from advisor.advising.contenders import Ranking, contenders
from advisor.advising.judging import comparable, comparable_outcome
from advisor.advising.prior_knowledge import expected_rates
from advisor.api.method import Knowledge, Method
from advisor.api.tool import ToolLimits
from advisor.domain.advice import Advice
from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Endpoint, Pair
from advisor.domain.file_io import NETWORK
from advisor.domain.measurement import Measurement
from advisor.domain.records import ProbeRecord, Purpose
from advisor.domain.space import Setting
from advisor.methods.api import WithExpectation
from advisor.models.file_classes import SizeHistogram
from advisor.models.slicing import FileEntry, Slicer, moved_work, slice_bytes
from advisor.models.transfer_length import transfer_length, whole_limit_s
from advisor.runtime.request import AdviceRequest
from advisor.testing.samples import a_path
from advisor.traits import method_traits
from tests.simulated_tool import SimulatedPath, simulate

TOOL: Final = "globus-url-copy"
_ALONE_SHARE: Final = 0.25
"""Of the budget: the network and both disks alone."""

_CONFIRM_SHARE: Final = 0.38
_LEAST_ROUNDS: Final = 2
_STRETCH: Final = 1.5
_NETWORK_SPREAD: Final = 0.03


class SimulatedSession:
    """`method`: of the search. `left_s`: of the budget.

    `names`: of the files; then the tool moves whole ones, in the order of their names.
    """

    def __init__(
        self,
        path: SimulatedPath,
        sizes: Sequence[int],
        seed: int,
        method: str = "bayes",
        names: Sequence[str] | None = None,
    ) -> None:
        self._path = path
        self._rng = np.random.default_rng([seed, 1])
        self._method = method
        self.budget_s = self.left_s = default_budget_s(path.rtt_s, files=True)
        histogram = SizeHistogram()
        for size in sizes:
            histogram.add(size)
        self.dataset = Dataset(
            total_bytes=sum(sizes),
            path="/data",
            files=len(sizes),
            largest="f" if len(sizes) > 1 else "",
            largest_bytes=max(sizes),
            sizes=histogram.bins,
        )
        tool = registry.transfer_tool(TOOL)
        self._facts = a_path(rtt_s=path.rtt_s, bandwidth_bps=None)
        self.space = tool.space(self._facts, self.dataset, ToolLimits())
        self.baselines = tool.baselines(self._facts, self.dataset)
        self._request = AdviceRequest(
            destination=Endpoint("far"),
            tool=TOOL,
            tools=[TOOL],
            dataset=self.dataset,
            destination_path="/there/",
            method=method,
        )
        self._keeps_names = names is not None
        names = names or [f"{number:06d}" for number in range(len(sizes))]
        files = [FileEntry(name, size, 0) for name, size in zip(names, sizes, strict=True)]
        at_once = ToolLimits().max_concurrency
        self._slicer = Slicer(
            files, self.dataset.sizes, at_once, self._rng, whole=self._keeps_names
        )
        self._length = transfer_length(path.rtt_s)
        self._stretch = 1.0
        self._last_s = 0.0
        self.probes: list[ProbeRecord] = []

    def run(self) -> Advice:
        """The whole session."""
        self._measure_network()
        for baseline in self.baselines:
            self._measure(baseline.setting, "baseline", baseline.role)
        self._search()
        self._stretch = _STRETCH
        self._confirm()
        inputs = AdviceInputs(
            session="simulated",
            request=self._request,
            pair=Pair("here", "far"),
            path=self._facts,
            probes=self.probes,
        )
        ranking = self._ranking()
        assert ranking
        return advice_from_ranking(inputs, ranking, incomplete=False)

    def _measure_network(self) -> None:
        for flows in (1, 8):
            bps = min(self._path.rate_bps, flows * self._path.stream_bps)
            bps *= math.exp(self._rng.normal(-_NETWORK_SPREAD, _NETWORK_SPREAD))
            result = Measurement(
                throughput_bps=bps,
                stderr_bps=0.0,
                intervals=[],
                steady_from=0,
                settled=True,
                elapsed_s=3.0,
            )
            setting: Setting = {"streams": flows, "buffer_bytes": 0}
            self._record("tcp", setting, result, NETWORK, "search", "alone")
        self.left_s -= _ALONE_SHARE * self.budget_s

    def _record(
        self,
        subject: str,
        setting: Setting,
        result: Measurement,
        stage: str,
        purpose: Purpose,
        label: str,
    ) -> None:
        self.probes.append(
            ProbeRecord(
                pair=Pair("here", "far"),
                subject=subject,
                setting=setting,
                result=result,
                recorded_s=0.0,
                stage=stage,
                purpose=purpose,
                label=label,
                rtt_s=self._path.rtt_s,
            )
        )

    def _measure(self, setting: Setting, purpose: Purpose, label: str) -> None:
        stage = TOOL if purpose == "search" else purpose
        self._record(TOOL, setting, self._probe(setting), stage, purpose, label)

    def _probe(self, setting: Setting) -> Measurement:
        whole_s, all_s = self._whole_s(setting)
        rate_bps = self.dataset.total_bytes * 8 / whole_s
        limit_s = self._length.ceiling_s * self._stretch
        data_s = self._length.data_s * self._stretch
        wanted = slice_bytes(1.1 * rate_bps, data_s, self.dataset.total_bytes)
        parts = self._slicer.all() if all_s else self._slicer.take(wanted)
        if self._keeps_names:
            parts.sort(key=lambda part: part.file.name)
        ran = simulate(
            self._path,
            [part.size_bytes for part in parts],
            setting,
            self._rng,
            all_s or limit_s,
        )
        self._last_s = ran.elapsed_s
        self.left_s -= ran.elapsed_s + 6 * self._path.rtt_s + 0.3
        flowed_s = max(0.1, ran.intervals[-1].end_s) if ran.intervals else 0.1
        return Measurement(
            throughput_bps=max(1, ran.moved_bytes) * 8 / flowed_s,
            stderr_bps=0.0,
            intervals=ran.intervals,
            steady_from=0,
            settled=ran.is_whole,
            elapsed_s=ran.elapsed_s,
            work=moved_work(
                parts,
                math.inf if ran.is_whole else ran.moved_bytes,
                ran.arrived if self._keeps_names and not ran.is_whole else None,
            ),
        )

    def _search(self) -> None:
        until_s = _CONFIRM_SHARE * self.left_s
        constants = method_traits(self._method).tool_constants
        method = registry.method(self._method).create(
            self.space,
            np.random.default_rng(1),
            Knowledge(path=self._facts, dataset=self.dataset),
            constants,
        )
        self._expect(method)
        while (setting := method.ask()) is not None:
            if self.left_s - until_s < self._next_probe_s(setting):
                break
            self._measure(setting, "search", method.label)
            result = self.probes[-1].result
            worth = comparable_outcome(self._request, self.probes[:-1], TOOL, setting, result)
            assert worth
            method.tell(setting, worth)
            self.probes[-1] = msgspec.structs.replace(
                self.probes[-1], recommended=method.recommended()
            )
            self._expect(method)

    def _next_probe_s(self, setting: Setting) -> float:
        whole_s, all_s = self._whole_s(setting)
        return whole_s if all_s else max(self._length.usual_s * self._stretch, self._last_s)

    def _whole_s(self, setting: Setting) -> tuple[float, float | None]:
        """What the whole dataset is expected to take, and its time limit if it is to be moved."""
        expected = expected_rates(self._request, self.probes)
        assert expected
        [rate_bps] = expected([setting])
        whole_s = self.dataset.total_bytes * 8 / rate_bps
        limit_s = self._length.ceiling_s * self._stretch
        return whole_s, whole_limit_s(whole_s, limit_s, self.left_s) if self._last_s else None

    def _expect(self, method: Method) -> None:
        expected = expected_rates(self._request, self.probes)
        if isinstance(method, WithExpectation) and expected:
            method.expect(expected)

    def _ranking(self) -> Ranking | None:
        return ranking_of(self._request, self._facts, self.probes, [], {TOOL: self.space})

    def _confirm(self) -> None:
        chosen = contenders(comparable(self._request, self.probes), [], {TOOL: self.space})
        rounds = 0
        while rounds < _LEAST_ROUNDS or not self._is_settled():
            indices = self._rng.permutation(len(chosen)).tolist()
            if not rounds:
                indices.sort(key=whole_last(self._request, self.probes, chosen))
            for index in indices:
                if self.left_s < self._next_probe_s(chosen[index].setting):
                    return
                self._measure(chosen[index].setting, "confirm", chosen[index].role)
            rounds += 1

    def _is_settled(self) -> bool:
        ranking = self._ranking()
        if ranking is None:
            return True
        best, *others = ranking.comparison.order()
        return all(ranking.comparison.settled(best, index) for index in others)
