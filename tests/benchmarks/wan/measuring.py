"""The one instrument: the sweep, SPSA's probes and the settings found all go through it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import IO

import msgspec

from advisor.domain.measurement import Failure, Measurement, Outcome
from advisor.domain.path import PathFacts
from tests.benchmarks.wan.cases import Case
from tests.benchmarks.wan.hosts import Lab, Trouble
from tests.benchmarks.wan.inside import ProbeOrder
from tests.benchmarks.wan.results import Setting


class Instrument:
    """Measures on the path of a lab."""

    def __init__(self, case: Case, orders: IO[str], answers: IO[str]) -> None:
        self._orders = orders
        self._answers = answers
        self.path = msgspec.json.decode(self._line(), type=PathFacts)
        for host in (self.path.source, self.path.destination):
            if host.congestion != case.control:
                raise Trouble(f"{host.hostname} says {host.congestion}, not {case.control}")

    def _line(self) -> str:
        line = self._answers.readline()
        if not line:
            raise Trouble("the measuring program in the lab ended")
        return line

    def probe(self, transport: str, setting: Setting, start_s: float, counted_s: float) -> Outcome:
        """One probe of fixed length, retried if it fails."""
        order = ProbeOrder(transport, setting, start_s, counted_s)
        outcome: Outcome | None = None
        for _ in range(2):
            self._orders.write(msgspec.json.encode(order).decode() + "\n")
            self._orders.flush()
            outcome = msgspec.json.decode(self._line(), type=Outcome)
            if isinstance(outcome, Measurement):
                return outcome
        assert isinstance(outcome, Failure)
        print(f"    failed: {transport} {setting}: {outcome.message}", flush=True)
        return outcome

    def bps(self, transport: str, setting: Setting, start_s: float, counted_s: float) -> float:
        """The rate in bit/s; 0 where the probe failed."""
        outcome = self.probe(transport, setting, start_s, counted_s)
        return outcome.throughput_bps if isinstance(outcome, Measurement) else 0.0


@contextlib.contextmanager
def instrument(lab: Lab, case: Case) -> Iterator[Instrument]:
    argv = [sys.executable, "-m", "tests.benchmarks.wan.inside", lab.endpoint]
    with lab.running(argv) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield Instrument(case, process.stdin, process.stdout)
