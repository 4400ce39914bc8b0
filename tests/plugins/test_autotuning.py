"""The kernel's own buffers are one more value of the TCP search, or the only one."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from advisor import registry
from advisor.api.transport import SpaceOptions
from advisor.backtest.synthetic import tcp_bps
from advisor.domain.path import PathFacts
from advisor.domain.space import Setting, Space
from advisor.methods.api import Knowledge
from advisor.testing.samples import a_host, a_path, measured
from tests.plugins.searches import make

KIB, MIB = 2**10, 2**20
RTT_S = 0.0456
LINK_BPS = 1e9
USABLE_BPS = 0.94 * LINK_BPS
SPREAD = 0.12
MOST_PROBES = 25
SEEDS = range(10)


def a_pair(granted_bytes: int, autotuned_bytes: int) -> PathFacts:
    host = a_host(
        send_max_bytes=granted_bytes,
        receive_max_bytes=granted_bytes,
        tcp_rmem_bytes=(4096, 131072, autotuned_bytes),
        tcp_wmem_bytes=(4096, 16384, autotuned_bytes),
        link_bps=LINK_BPS,
    )
    return a_path(rtt_s=RTT_S, bandwidth_bps=LINK_BPS, source=host, destination=host)


def tcp_space(path: PathFacts) -> Space:
    return registry.transport("tcp").space(path, {"congestion": "cubic"}, SpaceOptions())


class Model:
    """TCP on that path; about half of an autotuned buffer holds data."""

    def __init__(self, granted_bytes: int, autotuned_bytes: int, loss_share: float) -> None:
        self._granted_bytes = granted_bytes
        self._autotuned_bytes = autotuned_bytes
        self._loss_share = loss_share

    def bps(self, streams: int, buffer_bytes: int) -> float:
        asked = min(self._granted_bytes, buffer_bytes)
        window_bytes = asked if buffer_bytes else self._autotuned_bytes / 2
        return min(USABLE_BPS, tcp_bps(streams, window_bytes, RTT_S, self._loss_share))

    def best_bps(self) -> float:
        """Of a sweep with the kernel's own buffers."""
        sizes = (0, *(self._granted_bytes >> n for n in range(6)))
        return max(self.bps(*cell) for cell in product(range(1, 26), sizes))


def recommended(method: str, path: PathFacts, model: Model, seed: int) -> Setting:
    noise = np.random.default_rng([seed, 1])
    search = registry.method(method).create(
        tcp_space(path),
        np.random.default_rng(seed),
        Knowledge(path=path, bandwidth_bps=LINK_BPS),
        {},
    )
    for _ in range(MOST_PROBES):
        if (setting := search.ask()) is None:
            break
        truth_bps = model.bps(int(setting["streams"]), int(setting["buffer_bytes"]))
        search.tell(setting, measured(truth_bps * noise.lognormal(0, SPREAD)))
    found = search.recommended()
    assert found is not None
    return found[0]


@pytest.mark.parametrize("loss_share", [0.0, 1e-6, 1e-5])
@pytest.mark.parametrize(
    ("granted_bytes", "autotuned_bytes"),
    [(208 * KIB, 64 * MIB), (4 * MIB, 64 * MIB), (4 * MIB, 4 * MIB), (64 * MIB, 6 * MIB)],
)
def test_the_advice_is_within_5_percent_of_a_sweep_with_autotuned_streams(
    granted_bytes: int, autotuned_bytes: int, loss_share: float
) -> None:
    path = a_pair(granted_bytes, autotuned_bytes)
    model = Model(granted_bytes, autotuned_bytes, loss_share)
    for seed in SEEDS:
        setting = recommended("bayes", path, model, seed)
        reached_bps = model.bps(int(setting["streams"]), int(setting["buffer_bytes"]))
        assert reached_bps >= 0.95 * model.best_bps(), (seed, setting)


@pytest.mark.parametrize("congestion", ["cubic", "bbr"])
def test_only_streams_are_searched_where_a_socket_may_ask_for_far_too_little(
    congestion: str,
) -> None:
    tcp = registry.transport("tcp")
    space = tcp.space(a_pair(208 * KIB, 64 * MIB), {"congestion": congestion}, SpaceOptions())
    assert [p.name for p in space.parameters] == ["streams"]
    assert space.fixed == {"congestion": congestion, "buffer_bytes": 0}
    assert "208 KiB" in space.note
    assert "64 MiB" in space.note


@pytest.mark.parametrize(
    ("granted_bytes", "autotuned_bytes"),
    [
        (4 * MIB, 64 * MIB),  # A few streams with what may be asked fill the path.
        (208 * KIB, 256 * KIB),  # Autotuning is allowed no more.
    ],
)
def test_both_are_searched_where_either_may_win(granted_bytes: int, autotuned_bytes: int) -> None:
    space = tcp_space(a_pair(granted_bytes, autotuned_bytes))
    buffers = {p.name: p for p in space.parameters}["buffer_bytes"]
    assert buffers.automatic
    assert buffers.upper == granted_bytes


def test_both_are_searched_where_the_bandwidth_is_not_known() -> None:
    path = a_pair(208 * KIB, 64 * MIB)
    host = a_host(send_max_bytes=208 * KIB, receive_max_bytes=208 * KIB, link_bps=None)
    blind = a_path(rtt_s=path.rtt_s, bandwidth_bps=None, source=host, destination=host)
    assert any(p.automatic for p in tcp_space(blind).parameters)


def _asked(method: str, space: Space) -> Iterator[Setting]:
    search = make(method, space)
    for n in range(1500):
        if (setting := search.ask()) is None:
            return
        yield setting
        search.tell(setting, measured(1e9 + n % 7))


@pytest.mark.parametrize(
    "method", ["sweep", "bayes", "spsa", "depth-width", "compass", "nelder-mead", "heur1", "heur2"]
)
def test_every_method_reaches_the_kernels_own(method: str) -> None:
    space = tcp_space(a_pair(4 * MIB, 64 * MIB))
    streams = {int(s["streams"]) for s in _asked(method, space) if s["buffer_bytes"] == 0}
    assert streams


def test_a_sweep_has_the_kernels_own_at_every_stream_count() -> None:
    space = tcp_space(a_pair(4 * MIB, 64 * MIB))
    cells = {(int(s["streams"]), int(s["buffer_bytes"])) for s in _asked("sweep", space)}
    sizes = {size for _, size in cells}
    assert 0 in sizes
    assert {(streams, 0) for streams, _ in cells} <= cells
    assert len(sizes) == 6
