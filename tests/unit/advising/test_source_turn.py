"""The turn at the source of a probe."""

import asyncio

import pytest

from advisor.advising.prober import Watcher
from advisor.advising.source_turn import SourceTurn
from advisor.agent.turn import Turn

from .turn_here import is_free

pytestmark = pytest.mark.usefixtures("own_turn")

# Of a network for documentation: no host has it.
ELSEWHERE = "192.0.2.1"


class Heard:
    """What a watcher received."""

    def __init__(self) -> None:
        self.reports: list[str] = []
        self.watcher = Watcher(
            lambda _: None,
            lambda ahead: self.reports.append(f"{ahead} there"),
            ready=lambda: self.reports.append("ready"),
            waiting_here=lambda ahead: self.reports.append(f"{ahead} here"),
        )


def test_others_wait_while_a_probe_is_sent_elsewhere() -> None:
    async def probe() -> None:
        async with SourceTurn(ELSEWHERE).held(Heard().watcher):
            assert not is_free()
        assert is_free()

    asyncio.run(probe())


def test_it_waits_for_others_and_says_so() -> None:
    heard = Heard()

    async def probe() -> None:
        other = Turn()
        assert other.take_back()
        asyncio.get_running_loop().call_later(0.2, other.lend)
        async with SourceTurn(ELSEWHERE).held(heard.watcher):
            assert not is_free()

    asyncio.run(probe())
    assert heard.reports == ["1 here"]


def test_who_waits_at_the_destination_keeps_nobody_waiting_here() -> None:
    """Two sessions in opposite directions would wait for each other forever."""
    heard = Heard()

    async def probe() -> None:
        async with SourceTurn(ELSEWHERE).held(heard.watcher) as reports:
            reports.waiting(3)
            assert is_free()
            reports.ready()
            assert not is_free()

    asyncio.run(probe())
    assert heard.reports == ["3 there", "ready"]


def test_it_continues_when_its_turn_there_has_come_and_lets_the_other_finish() -> None:
    async def probe() -> None:
        other = Turn()
        async with SourceTurn(ELSEWHERE).held(Heard().watcher) as reports:
            reports.waiting(1)
            assert other.take_back()
            reports.ready()
        # What the other has was not taken from it.
        assert not is_free()
        other.lend()
        assert is_free()

    asyncio.run(probe())


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.9"])
def test_a_destination_on_this_host_takes_the_turn_by_itself(address: str) -> None:
    async def probe() -> None:
        async with SourceTurn(address).held(Heard().watcher):
            assert is_free()

    asyncio.run(probe())


def test_waiting_without_holding() -> None:
    heard = Heard()

    async def probe() -> None:
        other = Turn()
        assert other.take_back()
        asyncio.get_running_loop().call_later(0.2, other.lend)
        await SourceTurn(ELSEWHERE).awaited(heard.watcher)
        assert is_free()

    asyncio.run(probe())
    assert heard.reports == ["1 here"]
