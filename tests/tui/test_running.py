"""A session as a process of its own, on localhost with real probes."""

import asyncio
from collections.abc import Callable

import pytest

from advisor.domain.orders import Stop
from advisor.store.history import Store
from advisor.tui.features.advising.live_session import LiveSession

BEGIN = ["advise", "localhost", "--json", "--orders", "--measure", "--budget", "20"]
LONG = [*BEGIN[:-1], "60"]  # Ended early, also where each probe takes long.


async def until(condition: Callable[[], object], timeout_s: float = 120) -> None:
    async with asyncio.timeout(timeout_s):
        while not condition():
            await asyncio.sleep(0.05)


@pytest.mark.asyncio
async def test_its_story_grows_to_the_advice(store: Store) -> None:
    session = LiveSession([*BEGIN, "--store", store.argument])
    await until(lambda: not session.is_running)
    model = session.model
    assert model.advice
    assert model.path
    assert len([p for p in model.probes if p.throughput_bps]) >= 2
    assert any(p.curve for p in model.probes)
    assert model.best
    # A replay is the same, fed again.
    assert model.pair
    again = store.events(model.pair, model.session)
    assert again[-1] == model.advice


@pytest.mark.asyncio
async def test_a_session_that_was_closed_can_be_resumed(store: Store) -> None:
    session = LiveSession([*LONG, "--store", store.argument])
    await until(lambda: any(p.throughput_bps for p in session.model.probes))
    await session.close()
    assert not session.is_running
    unfinished = store.latest_unfinished_session(None)
    assert unfinished
    assert unfinished[0].session == session.model.session
    assert unfinished[1]


@pytest.mark.asyncio
async def test_an_order_to_stop_gives_the_best_so_far(store: Store) -> None:
    session = LiveSession([*LONG, "--store", store.argument])
    await until(lambda: any(p.throughput_bps for p in session.model.probes))
    session.order(Stop())
    await until(lambda: not session.is_running)
    assert session.model.advice
    assert session.model.advice.incomplete


@pytest.mark.asyncio
async def test_what_cannot_begin_says_why() -> None:
    session = LiveSession(["advise", "no host", "--json", "--orders"])
    await until(lambda: not session.is_running)
    assert session.model.gave_up
    assert "'no host' is not a host" in session.model.gave_up.message
    assert session.model.gave_up.exit_code == 2
