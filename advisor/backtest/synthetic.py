"""Tables with a known optimum: surfaces of simple shape, and a model of TCP.

Rates are drawn around the truth with a spread of 12 %, which is typical of repeats of one setting
on real wide-area paths.
"""

import math
from collections.abc import Callable
from itertools import product
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from advisor.backtest.from_transfers import PARAMETERS, path_of, space_of
from advisor.backtest.recorded import RecordedTable
from advisor.backtest.repeats import Cell, Repeat
from advisor.domain.dataset import Dataset
from advisor.domain.space import Scale

SOURCE: Final = "synthetic"
LINK_BPS: Final = 10e9
# Other traffic uses the rest of the link. Noise then seldom lifts a rate above the link speed.
USABLE_BPS: Final = 6e9

_SPREAD: Final = 0.12
_REPEATS: Final = 5
_PROBE_S: Final = 5.0
_RTT_S: Final = 0.04
_MSS_BYTES: Final = 1460
_SOCKET_BYTES: Final = 4 * 2**20
_LOSS_SHARE: Final = 1e-6
_LARGE: Final = Dataset(total_bytes=64 * 10**10, files=64)
_SMALL: Final = Dataset(total_bytes=20_000 * 10**6, files=20_000)

_DOUBLINGS: Final = (1, 2, 4, 8, 16, 32)
_GRID: Final = tuple(product(_DOUBLINGS, repeat=3))
_MEMORY_GRID: Final = tuple(product((2**power for power in range(16, 27)), _DOUBLINGS))


class _Network(NamedTuple):
    """What the tables of one path depend on.

    `loss_share`: of packets, on the surfaces with losses. `peak`: where there is an interior one.
    """

    usable_bps: float = USABLE_BPS
    rtt_s: float = _RTT_S
    loss_share: float = _LOSS_SHARE
    peak: Cell = (8, 4, 4)


_Truth: TypeAlias = Callable[[_Network, Cell], float]


class _Kind(NamedTuple):
    """One surface; `cost_order`: the most expensive first."""

    name: str
    truth_bps: _Truth
    names: tuple[str, ...]
    cost_order: tuple[str, ...]
    cells: tuple[Cell, ...]
    scale: Scale
    dataset: Dataset | None = None


def tcp_bps(streams: int, buffer_bytes: float, rtt_s: float, loss_share: float) -> float:
    """The total throughput of TCP streams in bit/s, on a path with enough capacity for all.

    Each has one window in flight per round trip: the buffer, or the smaller window that losses
    allow by Mathis et al. 1997, equation 3: BW = MSS ÷ RTT × C ÷ √p with C = √(3/2). `loss_share`
    p: of packets; 0 for none.
    """
    window_bytes = buffer_bytes
    if loss_share > 0:
        window_bytes = min(window_bytes, _MSS_BYTES * math.sqrt(1.5 / loss_share))
    return streams * window_bytes * 8 / rtt_s


def _plateau(network: _Network, cell: Cell) -> float:
    """Linear in the flows up to as many as the peak has, constant above."""
    concurrency, parallelism, _ = cell
    enough = network.peak[0] * network.peak[1]
    return network.usable_bps * min(1.0, concurrency * parallelism / enough)


def _interior_peak(network: _Network, cell: Cell) -> float:
    """Half the peak at a distance of about 1.5 octaves from it: see `PARAMETERS`."""
    away = sum((math.log2(value / at)) ** 2 for value, at in zip(cell, network.peak, strict=True))
    return network.usable_bps * math.exp(-0.3 * away)


def _falling(network: _Network, cell: Cell) -> float:
    """Every doubling of the flows costs a tenth, as on a disk that has to seek."""
    concurrency, parallelism, _ = cell
    return float(network.usable_bps * 0.9 ** math.log2(concurrency * parallelism))


def _flat(network: _Network, _: Cell) -> float:
    return network.usable_bps / 2


def _large_files(network: _Network, cell: Cell) -> float:
    concurrency, parallelism, _ = cell
    flows = concurrency * parallelism
    return min(network.usable_bps, tcp_bps(flows, _SOCKET_BYTES, network.rtt_s, network.loss_share))


def _small_files(network: _Network, cell: Cell) -> float:
    """Between two files a channel waits one round trip, or a fraction of it with pipelining."""
    concurrency, parallelism, pipelining = cell
    file_bits = _SMALL.total_bytes / (_SMALL.files or 1) * 8
    moving_s = file_bits / tcp_bps(parallelism, _SOCKET_BYTES, network.rtt_s, network.loss_share)
    waiting_s = network.rtt_s / pipelining
    return min(network.usable_bps, concurrency * file_bits / (moving_s + waiting_s))


def _without_loss(network: _Network, cell: Cell) -> float:
    return _with_loss(network._replace(loss_share=0.0), cell)


def _with_loss(network: _Network, cell: Cell) -> float:
    buffer_bytes, streams = cell
    return min(
        network.usable_bps, tcp_bps(streams, buffer_bytes, network.rtt_s, network.loss_share)
    )


_TRANSFERS: Final[tuple[tuple[str, _Truth, Dataset], ...]] = (
    ("plateau", _plateau, _LARGE),
    ("interior peak", _interior_peak, _LARGE),
    ("falling", _falling, _LARGE),
    ("flat", _flat, _LARGE),
    ("TCP, large files", _large_files, _LARGE),
    ("TCP, small files", _small_files, _SMALL),
)
_MEMORY: Final[tuple[tuple[str, _Truth], ...]] = (
    ("TCP from memory, no loss", _without_loss),
    ("TCP from memory, loss", _with_loss),
)
_KINDS: Final[tuple[_Kind, ...]] = (
    *(
        _Kind(name, truth_bps, PARAMETERS, PARAMETERS, _GRID, Scale.LOG2, dataset)
        for name, truth_bps, dataset in _TRANSFERS
    ),
    *(
        _Kind(
            name,
            truth_bps,
            ("buffer_bytes", "streams"),
            ("streams", "buffer_bytes"),
            _MEMORY_GRID,
            Scale.LINEAR,
        )
        for name, truth_bps in _MEMORY
    ),
)


def synthetic_tables(rng_seed: int = 0) -> list[RecordedTable]:
    """Eight tables, six of file transfers and two of TCP from memory to memory.

    Five repeats per cell, 5 s each; the same seed, at least 0, draws the same.
    """
    return [
        # The 1 separates it from the generators of a search replayed with the same seed.
        _drawn(kind, _Network(), kind.name, np.random.default_rng([rng_seed, place, 1]))
        for place, kind in enumerate(_KINDS)
    ]


def synthetic_pairs(number: int) -> list[RecordedTable]:
    """Tables of that many pairs: each has its own path and one of the eight surfaces, in turn.

    The path decides where the best setting is: round-trip times from 1 to 200 ms, losses of 1e-7 to
    1e-5 of the packets, and 10 to 60 % of the link left by others, all evenly on a log axis. The
    first pairs of a larger number are those of a smaller one.
    """
    return [_pair(place) for place in range(number)]


def _pair(place: int) -> RecordedTable:
    # The 2 separates it from the eight tables.
    rng = np.random.default_rng([place, 2])
    low = np.log([0.1 * LINK_BPS, 1e-3, 1e-7])
    high = np.log([USABLE_BPS, 0.2, 1e-5])
    usable_bps, rtt_s, loss_share = np.exp(rng.uniform(low, high)).tolist()
    peak = tuple(int(one) for one in rng.choice(_DOUBLINGS, size=3))
    kind = _KINDS[place % len(_KINDS)]
    network = _Network(usable_bps, rtt_s, loss_share, peak)
    return _drawn(kind, network, f"pair {place + 1}, {kind.name}", rng)


def _drawn(kind: _Kind, network: _Network, name: str, rng: np.random.Generator) -> RecordedTable:
    truth_bps = {cell: kind.truth_bps(network, cell) for cell in kind.cells}
    # Lognormal with a mean of 1, so that the truth is the mean of a cell.
    sigma = math.sqrt(math.log1p(_SPREAD**2))
    noise = rng.lognormal(-(sigma**2) / 2, sigma, size=(len(kind.cells), _REPEATS))
    return RecordedTable(
        name=f"{SOURCE}: {name}",
        source=SOURCE,
        space=space_of(kind.names, kind.cells, kind.scale, cost_order=kind.cost_order),
        repeats={
            cell: [Repeat(truth_bps[cell] * float(factor), _PROBE_S) for factor in factors]
            for cell, factors in zip(kind.cells, noise, strict=True)
        },
        path=path_of(
            "source",
            "destination",
            rtt_s=network.rtt_s,
            bandwidth_bps=LINK_BPS,
            buffer_bytes=_SOCKET_BYTES if kind.dataset else None,
        ),
        bandwidth_bps=LINK_BPS,
        dataset=kind.dataset,
        truth_bps=truth_bps,
    )
