"""Training, plans and feedback on one made-up network: the program's own parts, in virtual time."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Final

import numpy as np

from advisor.domain.shares import BASE, Asked, Served, SharePlan, Streams
from advisor.models.shares.forecast import DEFAULT, Forecast
from advisor.models.shares.planning import bounded, plan
from advisor.models.shares.steering import Steering
from advisor.models.shares.variation import Step, steps
from advisor.transfer.shared.epochs import EPOCH_S, SharedEpoch, SharedEpochs
from advisor.transfer.shared.parsing import parse_destination
from advisor.transfer.shared.training import PRECISION
from tests.benchmarks.shares.cases import HOSTS, RATIOS, STREAMS, asked, factor_cases
from tests.benchmarks.shares.virtual.engine import VirtualSource
from tests.benchmarks.shares.virtual.networks import Network

MOST: Final = 8
EPOCHS: Final = 4
REPEATS: Final = 4
_APART_S: Final = 200.0
"""The time between two runs, in which loads change."""


@dataclass(frozen=True, slots=True)
class Training:
    """How it is trained. `is_papers`: its levels, else those of `advisor share train`.

    `precision` None: all steps last `step_s`. `streams`: the least and the most of each file.
    """

    name: str
    lasts_s: float
    step_s: float
    precision: float | None = PRECISION
    is_papers: bool = False
    streams: tuple[int, int] = (STREAMS, STREAMS)


@dataclass(slots=True)
class Found:
    """Relative errors. `requested`, `kept`: of ratios by epoch, with feedback and without it.

    `expected`: of the plans; `within`: whether their intervals contain the rates. `factors`: of
    what all are expected to get after the base, and `factors_requested` of what the one was to get,
    `factors_missed` where it was foreseen that this cannot be met. `repeats`: the same levels one
    after another. `streams`: what twice the streams change by the models, and `streams_as_files`
    where a stream counts as a part of a file.
    """

    requested: list[list[float]] = field(default_factory=lambda: [[] for _ in range(EPOCHS)])
    kept: list[list[float]] = field(default_factory=lambda: [[] for _ in range(EPOCHS)])
    expected: list[float] = field(default_factory=list)
    within: list[bool] = field(default_factory=list)
    factors: list[float] = field(default_factory=list)
    factors_requested: list[float] = field(default_factory=list)
    factors_missed: list[float] = field(default_factory=list)
    repeats: list[float] = field(default_factory=list)
    streams: list[float] = field(default_factory=list)
    streams_as_files: list[float] = field(default_factory=list)
    steps: int = 0
    trained: dict[str, list[Served]] = field(default_factory=dict)
    tested: dict[str, list[Served]] = field(default_factory=dict)


def papers_steps(streams: int) -> Iterable[Step]:
    """One destination at a time more than the others, from three baselines (section IV.B)."""
    for number in count():
        for baseline in (2, 4, 1):
            for name in HOSTS:
                more = baseline + (baseline, 2 * baseline, max(1, baseline // 2))[number % 3]
                for raised in ({}, {name: more}):
                    yield Step(
                        concurrency=dict.fromkeys(HOSTS, baseline) | raised,
                        parallelism=dict.fromkeys(HOSTS, streams),
                    )


class Virtual:
    """One network, on which everything happens one after the other."""

    def __init__(self, network: Network, seed: int, training: Training) -> None:
        self._training = training
        self._seed = seed
        self.found = Found()
        rng = np.random.default_rng([seed, 1])
        self._source = VirtualSource(network, STREAMS, rng)
        self._trained: dict[str, Forecast] = {}

    async def run(self) -> Found:
        self._source.wait(_APART_S)
        await self._train()
        for case in RATIOS:
            self._source.wait(_APART_S)
            # Twice under the same load and with the same chance: without feedback, and with it.
            await self._ratio(case, copy.deepcopy(self._source), self.found.kept)
            await self._ratio(case, self._source, self.found.requested)
        for case in factor_cases():
            self._source.wait(_APART_S)
            await self._factor(case, self._source)
        await self._repeat(self._source)
        if self._training.streams[0] < self._training.streams[1]:
            self._double_streams(self._source)
        return self.found

    async def _train(self) -> None:
        one, source = self._training, self._source
        epochs = _epochs(source, one.step_s, one.precision)
        usual = dict.fromkeys(HOSTS, STREAMS)
        wanted = steps(HOSTS, MOST, one.streams, self._seed)
        end_s = source.now_s + one.lasts_s
        for step in papers_steps(one.streams[1]) if one.is_papers else wanted:
            if end_s - source.now_s < one.step_s / 2:
                break
            epochs.set(step.concurrency, step.parallelism)
            _add(self.found.trained, await _next(epochs), source.now_s)
            self.found.steps += 1
        epochs.set(dict.fromkeys(HOSTS, BASE), usual)
        self._trained = {
            name: Forecast(some, source.now_s, parallelism=STREAMS)
            for name, some in self.found.trained.items()
        }

    async def _ratio(self, case: str, source: VirtualSource, errors: list[list[float]]) -> None:
        wanted = _asked(case)
        forecasts = self._forecasts(source.now_s)
        planned = {row.destination: row for row in _planned(wanted, forecasts).rows}
        levels = {name: row.concurrency for name, row in planned.items()}
        steering = Steering(forecasts, bounded(wanted, forecasts))
        has_feedback = errors is self.found.requested
        epochs = _epochs(source, EPOCH_S)
        for number in range(EPOCHS):
            epochs.set(levels)
            epoch = await _next(epochs)
            expected_bps = _expected(steering, epoch)
            asked_bps = steering.asked_bps(epoch.rates_bps)
            errors[number] += _off(epoch.rates_bps, asked_bps)
            if not number and has_feedback:
                self.found.expected += _off(expected_bps, epoch.rates_bps)
                for name, rate_bps in epoch.rates_bps.items():
                    low_bps, high_bps = planned[name].interval_bps
                    self.found.within.append(low_bps <= rate_bps <= high_bps)
                _add(self.found.tested, epoch, source.now_s)
            steering.learn(epoch.concurrencies, epoch.rates_bps, epoch.errors)
            if has_feedback and (better := steering.wanted(levels)):
                levels = better.concurrency

    async def _factor(self, case: str, source: VirtualSource) -> None:
        """As `--run` does it: the base first, then what is planned with it."""
        wanted = _asked(case)
        forecasts = self._forecasts(source.now_s)
        steering = Steering(forecasts, bounded(wanted, forecasts))
        epochs = _epochs(source, EPOCH_S)
        levels = dict.fromkeys(HOSTS, BASE)
        epochs.set(levels)
        base = await _next(epochs)
        steering.learn(levels, base.rates_bps, base.errors)
        steering.base_bps = base.rates_bps
        steering.replan()
        if better := steering.wanted(levels):
            levels = better.concurrency
        epochs.set(levels)
        [raised] = [name for name, one in wanted.items() if one.factor is not None]
        epoch = await _next(epochs)
        expected_bps = _expected(steering, epoch)
        self.found.factors += _off(expected_bps, epoch.rates_bps)
        asked_bps = steering.asked_bps(epoch.rates_bps)[raised]
        off = abs(epoch.rates_bps[raised] / asked_bps - 1)
        is_met = abs(expected_bps[raised] / asked_bps - 1) <= _MET
        (self.found.factors_requested if is_met else self.found.factors_missed).append(off)
        _add(self.found.tested, epoch, source.now_s)

    async def _repeat(self, source: VirtualSource) -> None:
        """What a middle plan gets, again and again: the load changes meanwhile."""
        epochs = _epochs(source, self._training.step_s, self._training.precision)
        epochs.set(dict.fromkeys(HOSTS, 3))
        logs = []
        for _ in range(REPEATS):
            epoch = await _next(epochs)
            logs.append([math.log(epoch.rates_bps[name]) for name in HOSTS])
        steps_ = np.diff(np.array(logs), axis=0)
        self.found.repeats += [float(one) for one in np.sqrt((steps_**2).mean(axis=0) / 2)]

    def _double_streams(self, source: VirtualSource) -> None:
        """Twice the streams for one destination: the network's word, without chance, and ours."""
        files, total = 3, 3 * len(HOSTS)
        forecasts = self._forecasts(source.now_s)
        before_bps = source.mean_bps(dict.fromkeys(HOSTS, (files, STREAMS)))
        mean = STREAMS * (1 + 1 / len(HOSTS))
        for name in HOSTS:
            levels = dict.fromkeys(HOSTS, (files, STREAMS)) | {name: (files, 2 * STREAMS)}
            truth = source.mean_bps(levels)[name] / before_bps[name]
            one = forecasts[name]
            usual_bps = one(files, total)
            doubled_bps = one.with_streams(files, total, Streams(2 * STREAMS, mean))
            self.found.streams.append(abs(doubled_bps / usual_bps / truth - 1))
            as_files_bps = one(2 * files, total + files)
            self.found.streams_as_files.append(abs(as_files_bps / usual_bps / truth - 1))

    def _forecasts(self, now_s: float) -> dict[str, Forecast]:
        """The models of the training, under the load that everything before shows."""
        return {
            name: one.at(now_s, [*self.found.trained[name], *self.found.tested.get(name, ())])
            for name, one in self._trained.items()
        }


_MET: Final = 0.15
"""As `advisor share plan` counts a request as met."""


def _epochs(source: VirtualSource, epoch_s: float, precision: float | None = None) -> SharedEpochs:
    return SharedEpochs(
        source.destinations,
        epoch_s,
        precision=precision,
        clock=source.clock,
        wait_until=source.until,
    )


async def _next(epochs: SharedEpochs) -> SharedEpoch:
    epoch = await epochs.next()
    assert epoch is not None, "Its files have no end."
    return epoch


def _asked(case: str) -> dict[str, Asked]:
    texts = asked(case)
    found = {
        name: parse_destination(f"{name}={text}" if text else name)[1]
        for name, text in texts.items()
    }
    return {name: _limited(one) for name, one in found.items()}


def _limited(one: Asked) -> Asked:
    return Asked(share=one.share, factor=one.factor, held=one.held, most=MOST)


def _planned(wanted: Mapping[str, Asked], forecasts: Mapping[str, Forecast]) -> SharePlan:
    return plan("source", wanted, forecasts, DEFAULT, STREAMS)


def _expected(steering: Steering, epoch: SharedEpoch) -> dict[str, float]:
    total = sum(epoch.concurrencies.values())
    return {
        name: steering.expected_bps(name, level, total)
        for name, level in epoch.concurrencies.items()
    }


def _off(some: Mapping[str, float], reference: Mapping[str, float]) -> list[float]:
    return [abs(some[name] / reference[name] - 1) for name in HOSTS]


def _add(samples: dict[str, list[Served]], epoch: SharedEpoch, now_s: float) -> None:
    levels = epoch.concurrencies
    streams = sum(n * epoch.streams[name] for name, n in levels.items())
    for name, rate_bps in epoch.rates_bps.items():
        samples.setdefault(name, []).append(
            Served(
                concurrency=levels[name],
                source_concurrency=sum(levels.values()),
                throughput_bps=rate_bps,
                parallelism=epoch.streams[name],
                source_streams=streams,
                when_s=now_s,
            )
        )
