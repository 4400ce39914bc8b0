"""Records for the screens that show a history."""

import socket
import time
from typing import Any

from advisor.domain.endpoints import Pair
from advisor.domain.records import ProbeRecord
from advisor.store.history import Store
from advisor.testing.samples import measured


def keep_probes(store: Store, destination: str, rates_bps: list[float], **facts: Any) -> Pair:
    """Probes from this host, of TCP unless said otherwise, a minute apart, the last one now."""
    pair = Pair(socket.gethostname(), destination)
    now_s = time.time()
    for number, rate_bps in enumerate(reversed(rates_bps)):
        probe = {"subject": "tcp", "setting": {"streams": 4, "buffer_bytes": 4194304}} | facts
        store.append(
            ProbeRecord(
                pair=pair,
                result=measured(rate_bps),
                recorded_s=now_s - 60 * number,
                session="20260101T000000Z-aaaaaa",
                **probe,
            )
        )
    return pair
