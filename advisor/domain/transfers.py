"""Past file transfers: the files, the levels used, and the throughput."""

import math

import msgspec

from advisor.domain.space import Setting


class Levels(msgspec.Struct, frozen=True, kw_only=True):
    """A published setting; each level is at least 1. A pipelining of 1 sends nothing ahead."""

    concurrency: int
    parallelism: int
    pipelining: int = 1

    @property
    def files_and_streams(self) -> Setting:
        """Concurrency and parallelism, as the setting of a client."""
        return {"concurrency": self.concurrency, "parallelism": self.parallelism}

    @property
    def words(self) -> str:
        """As written in the papers."""
        return (
            f"concurrency {self.concurrency}, parallelism {self.parallelism}, "
            f"pipelining {self.pipelining}"
        )


class Conditions(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The conditions of a transfer: its path and its files. None where a figure is not known.

    `file_bytes`: mean size of the files. `bandwidth_bps`: of the link. `buffer_bytes`: the maximum
    per socket. All figures are above zero. `network`: distinguishes paths with the same figures,
    for example by host names.
    """

    file_bytes: float
    file_count: int | None = None
    bandwidth_bps: float | None = None
    rtt_s: float | None = None
    buffer_bytes: float | None = None
    network: str = ""

    def __post_init__(self) -> None:
        for name in ("file_bytes", "file_count", "bandwidth_bps", "rtt_s", "buffer_bytes"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise ValueError(f"{name} is {value:g}: give a figure above zero, or none")


class PastTransfer(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One past transfer. `throughput_bps` is above zero; `when_s` is Unix time, if it is known."""

    conditions: Conditions
    levels: Levels
    throughput_bps: float
    when_s: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.throughput_bps < math.inf:
            raise ValueError(
                f"throughput_bps is {self.throughput_bps:g}: leave out transfers that failed"
            )
        if min(self.levels.concurrency, self.levels.parallelism, self.levels.pipelining) < 1:
            raise ValueError("a level is below 1: count pipelining from 1, which sends none ahead")
