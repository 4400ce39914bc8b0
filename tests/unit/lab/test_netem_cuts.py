"""What a cut changes of a path by netem: the commands that are run, and what is counted."""

import asyncio
import itertools
from collections.abc import Callable, Coroutine
from typing import Any, cast

import msgspec
import pytest

from advisor.lab import netem
from advisor.lab.messages import Crossing
from advisor.lab.netem import Abilities, Netem
from advisor.lab.networks import Network, NetworkError
from advisor.lab.paths import Direction, EmulatedPath

_WAY = Direction(rate_bps=1e8, loss=0.01)
_PATH = EmulatedPath(forward=_WAY, reverse=_WAY)


class Kernel:
    """Notes the commands of tc; refuses those that contain `refuses`. `drops`: at each queue."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.refuses = ""
        self.drops = 0
        self._numbers = itertools.count()

    def router(self) -> "Router":
        return Router(self, next(self._numbers))

    async def shown(self, argv: list[str], _: float) -> tuple[int, str]:
        """What `tc -s -j qdisc show` prints in each router."""
        found = [
            {"kind": "tbf", "dev": dev, "drops": self.drops, "root": True}
            for dev in ("near", "far")
        ]
        return 0, (msgspec.json.encode(found).decode() + "\n") * len(argv[2].splitlines())


class Router:
    """Stands in for a network that forwards packets."""

    def __init__(self, kernel: Kernel, number: int) -> None:
        self._kernel = kernel
        self.path = f"/net/{number}"

    async def run(self, *lines: str) -> None:
        for line in lines:
            if self._kernel.refuses and self._kernel.refuses in f"{self.path} {line}":
                raise NetworkError("refused")
            if line.startswith("tc "):
                self._kernel.lines.append(line)


def on_netem(
    monkeypatch: pytest.MonkeyPatch, play: Callable[[Netem, Kernel], Coroutine[Any, Any, None]]
) -> None:
    """Play with a path to one host: the fork is router 0, and 1, 2 and 3 are a, b and c."""
    kernel = Kernel()
    monkeypatch.setattr(netem, "_router", kernel.router)
    monkeypatch.setattr(netem, "output_of", kernel.shown)

    async def run() -> None:
        backend = Netem(seed=7, able=Abilities(seed=True), has_own=False)
        host = cast(Network, Router(kernel, 99))
        await backend.add_host(host, "10.77.0.1", 9000)
        await backend.add_host(host, "10.77.1.1", 9000)
        await backend.set_path(1, _PATH)
        await play(backend, kernel)

    asyncio.run(run())


async def forward(backend: Netem) -> Crossing:
    return (await backend.crossings()).forward[1]


def test_a_cut_and_its_end_change_the_queues_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stage with the seed, set again, would lose the same packets again."""

    async def play(backend: Netem, kernel: Kernel) -> None:
        assert sum(" seed " in line for line in kernel.lines) == 2
        for is_cut in (True, False, True):
            kernel.lines.clear()
            await backend.set_cut(1, is_cut)
            assert len(kernel.lines) == 2
            assert all(" tbf " in line for line in kernel.lines)
            assert all(line.endswith(" limit 1") is is_cut for line in kernel.lines)
        kernel.lines.clear()
        await backend.set_cut(1, True)
        assert kernel.lines == []

    on_netem(monkeypatch, play)


def test_a_change_has_other_seeds_even_after_one_that_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def play(backend: Netem, kernel: Kernel) -> None:
        kernel.refuses = "/net/3"
        with pytest.raises(NetworkError):
            await backend.set_path(1, _PATH)
        kernel.refuses = ""
        await backend.set_path(1, _PATH)
        seeded = [line.split(" seed ")[1] for line in kernel.lines if " seed " in line]
        assert len(set(seeded)) == len(seeded) == 5

    on_netem(monkeypatch, play)


@pytest.mark.parametrize("refuses", ["/net/1 ", "/net/3 "])
@pytest.mark.parametrize("is_cut", [True, False])
def test_a_cut_that_failed_can_be_tried_again(
    monkeypatch: pytest.MonkeyPatch, refuses: str, is_cut: bool
) -> None:
    async def play(backend: Netem, kernel: Kernel) -> None:
        if not is_cut:
            await backend.set_cut(1, True)
        kernel.refuses = refuses
        with pytest.raises(NetworkError):
            await backend.set_cut(1, is_cut)
        kernel.refuses = ""
        kernel.lines.clear()
        await backend.set_cut(1, is_cut)
        assert {line.split(" root ")[0] for line in kernel.lines} >= {
            "tc qdisc replace dev far" if refuses == "/net/1 " else "tc qdisc replace dev near"
        }
        kernel.lines.clear()
        await backend.set_cut(1, is_cut)
        assert kernel.lines == []

    on_netem(monkeypatch, play)


def test_what_is_dropped_before_and_after_a_failed_cut_is_the_queues(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def play(backend: Netem, kernel: Kernel) -> None:
        kernel.drops, kernel.refuses = 10, "/net/1 "
        with pytest.raises(NetworkError):
            await backend.set_cut(1, True)
        kernel.drops, kernel.refuses = 15, ""
        seen = await forward(backend)
        assert (seen.dropped, seen.cut) == (15, 0)
        await backend.set_cut(1, True)
        kernel.drops = 22
        seen = await forward(backend)
        assert (seen.dropped, seen.cut) == (15, 7)

    on_netem(monkeypatch, play)


def test_a_cut_after_a_failed_change_keeps_the_path_in_force(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def play(backend: Netem, kernel: Kernel) -> None:
        kernel.refuses = "10000000bit"
        slow = Direction(rate_bps=1e7)
        with pytest.raises(NetworkError):
            await backend.set_path(1, EmulatedPath(forward=slow, reverse=slow))
        kernel.refuses = ""
        kernel.lines.clear()
        await backend.set_cut(1, True)
        assert all(" rate 100000000bit " in line for line in kernel.lines)

    on_netem(monkeypatch, play)
