"""Past transfers that are like the one wanted, of which the best setting is known."""

import numpy as np

from advisor.domain.dataset import Dataset
from advisor.domain.space import Parameter, Scale, Setting, Space
from advisor.domain.transfers import Conditions, Levels, PastTransfer
from advisor.methods.api import Knowledge
from advisor.testing.samples import a_path

SPACE = Space(
    parameters=tuple(
        Parameter(name=name, unit="", lower=1, upper=32, scale=Scale.LOG2)
        for name in ("concurrency", "parallelism", "pipelining")
    ),
    cost_order=("concurrency", "parallelism", "pipelining"),
)
FILES = Dataset(total_bytes=100 * 10**9, path="/x", files=100)
LEVELS = (1, 2, 4, 8, 16, 32)


def rate_bps(setting: Setting, peak: int) -> float:
    """Bit/s with one maximum, at a concurrency of `peak` and a parallelism of 4."""
    off = (np.log2(int(setting["concurrency"]) / peak)) ** 2
    off += (np.log2(int(setting["parallelism"]) / 4)) ** 2 / 4
    return 5e9 / (1 + off / 4)


def past(peak: int, network: str) -> list[PastTransfer]:
    """One transfer at each concurrency and parallelism; they peak as `rate_bps` has it."""
    conditions = Conditions(
        file_bytes=10**9,
        file_count=100,
        bandwidth_bps=10e9,
        rtt_s=0.04,
        buffer_bytes=2**25,
        network=network,
    )
    return [
        PastTransfer(
            conditions=conditions,
            levels=Levels(concurrency=c, parallelism=p),
            throughput_bps=rate_bps({"concurrency": c, "parallelism": p}, peak),
        )
        for c in LEVELS
        for p in LEVELS
    ]


def known(*pasts: list[PastTransfer]) -> Knowledge:
    """What a search of such a transfer receives."""
    return Knowledge(
        path=a_path(rtt_s=0.04, bandwidth_bps=10e9),
        bandwidth_bps=10e9,
        dataset=FILES,
        transfers=[transfer for some in pasts for transfer in some],
    )
