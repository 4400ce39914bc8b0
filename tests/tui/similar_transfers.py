"""What HARP finds in made-up histories, and sessions that used them."""

import msgspec
import numpy as np

from advisor.domain import events as ev
from advisor.domain.evidence import Evidence
from advisor.domain.transfers import Conditions, Levels, PastTransfer
from advisor.models.harp.account import evidence_of
from advisor.models.harp.entries import History
from advisor.models.harp.optimiser import SampleTransfer, optimise
from tests.tui.disk_to_disk import TOOL, events
from tests.unit.models.harp.worlds import BOX, DAY_S, WAN, hill, sweep

SAMPLE = SampleTransfer(levels=Levels(concurrency=2, parallelism=2), throughput_bps=1.9e9)
NOON_S = 1.79e9
QUIET = sweep(hill((8, 4, 2), 8e9), when_s=NOON_S)
BUSY = sweep(hill((24, 16, 2), 2e9), when_s=NOON_S + 5 * DAY_S)


def on(network: str) -> Conditions:
    """The same as the others' but for the name."""
    return msgspec.structs.replace(WAN, network=network)


def scattered(days: int) -> list[PastTransfer]:
    """Transfers that no surface fits, this many days later."""
    rng = np.random.default_rng(days)
    return [
        msgspec.structs.replace(one, throughput_bps=float(rng.uniform(1e8, 9e9)))
        for one in sweep(hill((8, 4, 2), 8e9), when_s=NOON_S + days * DAY_S)
    ]


def found(past: list[PastTransfer], sample: SampleTransfer | None = SAMPLE) -> Evidence:
    """What the optimiser says of a transfer over WAN."""
    history = History.of(past)
    answer = optimise(WAN, sample, history, BOX)
    return evidence_of(WAN, sample, history, answer)


def a_session(*evidence: Evidence, method: str = "harp") -> list[ev.AnyEvent]:
    """A whole session from disk to disk; each evidence is of a search of its own."""
    recorded = [
        msgspec.structs.replace(one, method=method) if isinstance(one, ev.SessionStarted) else one
        for one in events()
    ]
    ended = max(
        i for i, one in enumerate(recorded) if isinstance(one, ev.StageEnded) and one.stage == TOOL
    )
    heard = [
        ev.EvidenceFound(at_s=recorded[ended].at_s, stage=f"{TOOL} {n}", evidence=one)
        for n, one in enumerate(evidence, 1)
    ]
    return [*recorded[:ended], *heard, *recorded[ended:]]
