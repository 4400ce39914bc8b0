"""A session that profiles globus-url-copy from disk to disk, its events written by hand."""

import random
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from advisor.domain import events as ev
from advisor.domain.advice import Command, Composition, Contender, Estimate, Subsystem
from advisor.domain.endpoints import Pair
from advisor.domain.file_io import TOOL_IN_MEMORY, Filesystem
from advisor.domain.measurement import Measurement
from advisor.domain.space import Parameter, Scale, Setting, Space, flows_of
from advisor.testing.samples import a_path, failed, measured

TOOL = "globus-url-copy"
PAIR = Pair("dtn1", "dtn2")
SESSION = "20261121T074920Z-d28598"
LABELS = {
    "baseline": "default",
    "network": "alone",
    "source disk": "alone",
    "destination disk": "alone",
    TOOL_IN_MEMORY: "alone",
}
BEST: Setting = {"concurrency": 4, "parallelism": 4}
DEFAULT: Setting = {"concurrency": 2, "parallelism": 8}
SPACE = Space(
    parameters=(
        Parameter(name="concurrency", unit="", lower=1, upper=16, scale=Scale.LOG2),
        Parameter(name="parallelism", unit="", lower=1, upper=8, scale=Scale.LOG2),
    ),
    cost_order=("concurrency", "parallelism"),
)
COMPOSITION = Composition(
    subsystems=[
        Subsystem(
            what="source disk",
            throughput_bps=8.2e9,
            setting={"threads": 4, "request_bytes": 2**20, "direct": 1},
            by_flows={1: 3.1e9, 4: 8.2e9, 8: 8.0e9},
        ),
        Subsystem(
            what="network",
            throughput_bps=490e6,
            setting={"streams": 16, "buffer_bytes": 0},
            by_flows={1: 120e6, 4: 400e6, 16: 490e6},
        ),
        Subsystem(
            what="destination disk",
            throughput_bps=1.1e9,
            setting={"threads": 8, "request_bytes": 2**20, "direct": 0},
            by_flows={1: 0.7e9, 4: 1.0e9, 8: 1.1e9},
        ),
    ],
    predicted_bps=490e6,
    joint_bps=441e6,
)


def a_plan(**changes: Any) -> ev.FilesPlanned:
    disk = Filesystem(
        folder="/scratch/run42",
        kind="xfs",
        device="/dev/nvme0n1",
        mount_point="/scratch",
        total_bytes=2**42,
        free_bytes=2**41,
        writable=True,
    )
    plan = ev.FilesPlanned(
        at_s=0.2,
        tool=TOOL,
        source_path="/scratch/run42",
        destination_path="/data/run42",
        folder="/data/.advisor-7f3a",
        most_bytes=2**33,
        keep=False,
        source=disk,
        destination=msgspec.structs.replace(disk, folder="/data", kind="lustre"),
        source_io_bytes=2**32,
        destination_io_bytes=2**31,
        notes=["Lustre lays new files over 4 targets."],
    )
    return msgspec.structs.replace(plan, **changes)


def an_advice(**changes: Any) -> ev.AdviceGiven:
    given: dict[str, Any] = {
        "at_s": 400.0,
        "pair": PAIR,
        "subject": TOOL,
        "setting": BEST,
        "expected_bps": 441e6,
        "interval_bps": (420e6, 462e6),
        "default_bps": 300e6,
        "gain": Estimate(1.47, (1.35, 1.6)),
        "limits": [],
        "reasons": ["against default (globus-url-copy, 2 files at a time): × 1.47"],
        "commands": [
            Command(
                tool=TOOL,
                side="source",
                argv=[TOOL, "-cc", "4", "-p", "4"],
                shell=f"{TOOL} -cc 4 -p 4",
            )
        ],
        "contenders": [
            Contender(
                role="best",
                subject=TOOL,
                setting=BEST,
                throughput=Estimate(441e6, (430e6, 452e6)),
                probes=5,
            ),
            Contender(
                role="default",
                subject=TOOL,
                setting=DEFAULT,
                throughput=Estimate(300e6, (280e6, 320e6)),
                probes=4,
            ),
        ],
        "incomplete": False,
        "session": SESSION,
        "transfer_s": Estimate(8000.0, (7000.0, 9000.0)),
        "composition": COMPOSITION,
    }
    return ev.AdviceGiven(**(given | changes))


class Telling:
    """Writes events one after the other, a probe every four seconds."""

    def __init__(self) -> None:
        self.at_s = 1.0
        self.ordinal = 0

    def stage(
        self,
        name: str,
        subject: str,
        probes: Iterable[tuple[Setting, float | None]],
        space: Space | None = None,
    ) -> Iterator[ev.AnyEvent]:
        probes = list(probes)
        yield ev.StageStarted(
            at_s=self.at_s, stage=name, subject=subject, budget_s=60.0, space=space
        )
        for setting, rate_bps in probes:
            yield from self._probe(name, subject, setting, rate_bps)
        yield ev.StageEnded(
            at_s=self.at_s,
            stage=name,
            reason="all was tried",
            probes=len(probes),
            elapsed_s=4.0 * len(probes),
        )

    def _probe(
        self, stage: str, subject: str, setting: Setting, rate_bps: float | None
    ) -> Iterator[ev.AnyEvent]:
        self.ordinal += 1
        recorded: dict[str, Any] = {
            "ordinal": self.ordinal,
            "stage": stage,
            "purpose": stage if stage in ("baseline", "confirm") else "search",
            "subject": subject,
            "setting": setting,
            "label": LABELS.get(stage, ""),
        }
        yield ev.ProbeStarted(at_s=self.at_s, **recorded)
        for second in range(1, 4):
            yield ev.IntervalSeen(
                at_s=self.at_s + second,
                ordinal=self.ordinal,
                start_s=second - 1.0,
                end_s=float(second),
                received_bytes=int((rate_bps or 0) / 8),
                throughput_bps=rate_bps or 0.0,
            )
        self.at_s += 4.0
        result = measured(rate_bps) if rate_bps else failed()
        yield ev.ProbeEnded(at_s=self.at_s, result=result, remaining_s=100.0, **recorded)


def _disk(rates_bps: dict[int, float]) -> Iterator[tuple[Setting, float]]:
    for request_bytes, share in ((2**16, 0.5), (2**20, 1.0)):
        for threads, rate_bps in rates_bps.items():
            setting: Setting = {"threads": threads, "request_bytes": request_bytes, "direct": 1}
            yield setting, rate_bps * share


def _searched() -> Iterator[tuple[Setting, float | None]]:
    """Each setting five times, with the scatter that a shared path has."""
    chance = random.Random(7)
    yield {"concurrency": 16, "parallelism": 8}, None
    for concurrency in (1, 2, 4, 8):
        for parallelism in (1, 4, 8):
            flows = concurrency * parallelism
            mean_bps = 441e6 * min(1.0, 0.25 + flows / 20) * (1.0 if flows <= 32 else 0.9)
            for _ in range(5):
                setting: Setting = {"concurrency": concurrency, "parallelism": parallelism}
                yield setting, mean_bps * chance.gauss(1.0, 0.06)


def events(**plan: Any) -> list[ev.AnyEvent]:
    """The whole session, to its advice."""
    telling = Telling()
    network: list[tuple[Setting, float | None]] = [
        ({"streams": n, "buffer_bytes": 0}, rate)
        for n, rate in COMPOSITION.subsystems[1].by_flows.items()
    ]
    recorded: list[ev.AnyEvent] = [
        ev.SessionStarted(
            at_s=0.0, session=SESSION, pair=PAIR, method="depth-width", seed=1, budget_s=400.0
        ),
        ev.PathFound(at_s=0.1, path=a_path(bandwidth_bps=None), limits=[]),
        ev.HistoryFound(at_s=0.1, results=[]),
        a_plan(**plan),
        *telling.stage("network", "tcp", network),
        *telling.stage("source disk", "source disk", _disk({1: 3.1e9, 2: 5e9, 4: 8.2e9, 8: 8e9})),
        *telling.stage("destination disk", "destination disk", _disk({1: 7e8, 4: 1e9, 8: 1.1e9})),
        *telling.stage("baseline", TOOL, [(DEFAULT, 300e6)]),
        *telling.stage(TOOL, TOOL, _searched(), SPACE),
        ev.BestChanged(at_s=telling.at_s, subject=TOOL, setting=BEST, throughput_bps=455e6),
        *telling.stage("confirm", TOOL, [(BEST, 440e6), (DEFAULT, 305e6)] * 3),
        *telling.stage(TOOL_IN_MEMORY, TOOL_IN_MEMORY, [(BEST, 484e6)]),
    ]
    recorded.append(an_advice(at_s=telling.at_s))
    return recorded


def until(recorded: list[ev.AnyEvent], stage: str, probes: int) -> list[ev.AnyEvent]:
    """What was reported while the probe after this many of this run was under way."""
    begun = [
        index
        for index, event in enumerate(recorded)
        if isinstance(event, ev.ProbeStarted) and event.stage == stage
    ]
    return recorded[: begun[probes] + 3]


def rates_by_flows(recorded: list[ev.AnyEvent]) -> dict[int, list[float]]:
    """What the tool's probes gave, by number of flows."""
    rates: dict[int, list[float]] = {}
    for event in recorded:
        if not isinstance(event, ev.ProbeEnded) or event.subject != TOOL:
            continue
        if isinstance(event.result, Measurement):
            flows = flows_of(event.setting)
            rates.setdefault(flows, []).append(event.result.throughput_bps)
    return rates
