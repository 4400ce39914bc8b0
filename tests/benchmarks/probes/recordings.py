"""The runs on lab paths that are recorded, and the file that keeps them."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from advisor.domain.measurement import Interval
from advisor.domain.sending import SenderReport

RTTS_MS: Final = (183.0, 93.6, 45.6, 366.0, 20.0, 0.4)
LOSSES: Final = ("1e-4", "0", "1e-3")
UNSEEN_LOSS: Final = "1e-3"
"""The runs with this loss were no help in developing the rule."""

CONTROLS: Final = ("cubic", "reno", "bbr")
STREAMS: Final = (1, 8)

_ROUND_TRIPS: Final = 200
_SHORTEST_S: Final = 12.0
_LONGEST_S: Final = 45.0


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """One run: the path, the setting, and how long it lasts."""

    rtt_ms: float
    loss: str
    control: str
    streams: int
    lasts_s: float

    @property
    def key(self) -> tuple[float, str, str, int]:
        """What distinguishes it."""
        return (self.rtt_ms, self.loss, self.control, self.streams)

    @property
    def setting(self) -> dict[str, int | float | str]:
        """For the transport: the kernel's own buffers."""
        return {"streams": self.streams, "buffer_bytes": 0, "congestion": self.control}


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """All that the rule gets during one run. `failed`: why there is nothing."""

    order: Order
    rtt_s: float
    intervals: list[Interval]
    reports: list[SenderReport]
    failed: str = ""


def orders(every: bool) -> Iterator[list[Order]]:
    """The runs of each path. Without `every`, one number of streams for each control, in turn."""
    for loss_index, loss in enumerate(LOSSES):
        for rtt_index, rtt_ms in enumerate(RTTS_MS):
            lasts_s = min(_LONGEST_S, max(_SHORTEST_S, _ROUND_TRIPS * rtt_ms / 1000))
            yield [
                Order(rtt_ms=rtt_ms, loss=loss, control=control, streams=streams, lasts_s=lasts_s)
                for control_index, control in enumerate(CONTROLS)
                for index, streams in enumerate(STREAMS)
                if every or (loss_index + rtt_index + control_index + index) % 2 == 0
            ]


def recorded(path: Path) -> list[Recording]:
    """The recordings of a file; none where there is no file."""
    if not path.exists():
        return []
    data = path.read_bytes()
    lines = (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()
    return [msgspec.json.decode(line, type=Recording) for line in lines]
