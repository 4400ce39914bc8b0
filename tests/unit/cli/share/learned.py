"""Measurements of shares, as an experiment would have stored them."""

import math
import time

from advisor.domain.endpoints import Pair
from advisor.domain.records import ShareRecord
from advisor.domain.shares import Served
from advisor.store.history import Store
from advisor.transfer.shared.session import source_name

LEVELS = [(a, b) for a in (1, 2, 3, 4, 6) for b in (1, 2, 4)]


def learn(store: Store, *names: str, times: int = 1, streams: int = 8, tool: str = "") -> None:
    """What two destinations get of 1 Gbit/s that goes by files at a time."""
    for number, (own, other) in enumerate(LEVELS * times):
        for name in names:
            served = Served(
                concurrency=own,
                source_concurrency=own + other,
                throughput_bps=1e9 * own / (own + other) * (1 + 0.02 * math.sin(number)),
                when_s=time.time() - 7200 + number,
            )
            store.append(_training(name, served, streams, other, tool))


def _training(name: str, served: Served, streams: int, other: int, tool: str = "") -> ShareRecord:
    return ShareRecord(
        pair=Pair(source_name(), name),
        recorded_s=served.when_s,
        session="feedcafe",
        served=served,
        parallelism=streams,
        others={"other": other},
        purpose="train",
        tool=tool,
    )


def learn_streams(store: Store, *names: str) -> None:
    """The same, where a file with four times the streams gets twice as much."""
    for number, (own, other) in enumerate(LEVELS):
        streams = (2, 4, 8)[number % 3]
        for name in names:
            served = Served(
                concurrency=own,
                source_concurrency=own + other,
                throughput_bps=1e8 * own / (own + other) * streams**0.5,
                parallelism=streams,
                source_streams=own * streams + other * 8,
                when_s=time.time() - 7200 + number,
            )
            store.append(_training(name, served, streams, other))
