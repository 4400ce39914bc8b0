"""The mover's own tasks and sizes, without any client."""

import asyncio
import time

import pytest

from advisor.testing.samples import a_path
from advisor.transfer.engine.client_options import ClientOptions, beside_epochs, lasting_epochs
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.mover import Mover
from advisor.transfer.engine.places import Places
from advisor.transfer.engine.route import Route


class Nothing:
    """A tool that is never run."""

    name = "nothing"
    moves_several = True


async def _leave(entered: asyncio.Event) -> None:
    """Enter a mover's block and leave it in the moment in which a wait within it is over."""
    route = Route(
        tool=Nothing(),  # type: ignore[arg-type]  # All that is looked at.
        path=a_path(),
        places=Places(source="/a", target="/b", destination_host="c"),
    )
    link = None
    mover = Mover(
        link,  # type: ignore[arg-type]  # Never asked.
        route,
        [FileGroup("all", [])],
        ClientOptions(expected_bps=1e9, longest_piece_s=10.0),
        tell=print,
    )
    async with mover:
        entered.set()
        # Nothing runs for longer than both waits: then both are over in the same turn of the loop.
        asyncio.get_running_loop().call_soon(time.sleep, 0.25)
        await asyncio.sleep(0.05)


@pytest.mark.asyncio
async def test_it_ends_though_a_wait_within_it_is_over_just_then() -> None:
    for _ in range(5):
        entered = asyncio.Event()
        leaving = asyncio.create_task(_leave(entered))
        await entered.wait()
        await asyncio.wait([leaving], timeout=60)
        assert leaving.done()


@pytest.mark.parametrize(
    ("set_up_s", "longest_s", "piece_s"),
    [
        (0.0, 10.0, 5.0),
        (1.0, 10.0, 5.0),
        (2.0, 10.0, 8.0),
        (4.0, 10.0, 10.0),
        (4.0, 0.0, 5.0),
    ],
)
def test_pieces_are_long_beside_what_it_takes_to_begin_one(
    set_up_s: float, longest_s: float, piece_s: float
) -> None:
    client_options = ClientOptions(expected_bps=1e9, piece_s=5.0, longest_piece_s=longest_s)
    assert client_options.piece_s_beside(set_up_s) == piece_s


@pytest.mark.parametrize(
    ("epoch_s", "set_up_s", "piece_s"),
    [
        (90.0, 0.5, 5.0),
        (90.0, 3.0, 12.0),
        (8.0, 0.1, 2.0),
        (8.0, 3.0, 4.0),
        (None, 0.1, 4.0),
    ],
)
def test_pieces_fit_into_an_epoch(epoch_s: float | None, set_up_s: float, piece_s: float) -> None:
    assert beside_epochs(epoch_s, 1e9).piece_s_beside(set_up_s) == piece_s


def test_clients_last_an_epoch_where_they_can_be_ended_and_half_of_it_where_not() -> None:
    assert lasting_epochs(90.0, 1e9).piece_s_beside(3.0) == 45.0
    assert lasting_epochs(90.0, 1e9, ends_surplus=True).piece_s_beside(3.0) == 90.0
