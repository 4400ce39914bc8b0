"""What the clients of one of several destinations are expected to move."""

from pathlib import Path

import pytest_asyncio

from advisor.domain.endpoints import Endpoint
from advisor.runtime.control import Control
from advisor.runtime.request import ConnectionOptions
from advisor.store.history import Store
from advisor.testing.samples import a_path
from advisor.transfer.engine.options import DeliveryOptions
from advisor.transfer.engine.places import Places
from advisor.transfer.engine.route import Route
from advisor.transfer.shared.destination import DestinationSession


class Idle(DestinationSession):
    async def _run(self) -> int:
        raise NotImplementedError


@pytest_asyncio.fixture
async def session(tmp_path: Path) -> Idle:
    return Idle(
        ConnectionOptions(destination=Endpoint(host="far")),
        DeliveryOptions(journals=tmp_path, receipts=tmp_path),
        Store(tmp_path),
        lambda *_: None,
        Control(),
    )


ROUTE = Route(
    tool=object(),  # type: ignore[arg-type]  # Never asked.
    path=a_path(),
    places=Places(source="/a", target="/b", destination_host="far"),
)


def test_first_batches_are_sized_by_what_the_models_expect(session: Idle) -> None:
    session.concurrency = 2
    session.expected_bps = 24e6
    options = session.client_options(ROUTE, 90.0)
    assert options.first_bps == 24e6


def test_without_models_a_first_batch_is_bounded_whatever_the_interface_carries(
    session: Idle,
) -> None:
    session.concurrency = 2
    options = session.client_options(ROUTE, 90.0)
    assert options.expected_bps == 5e9
    assert options.first_bps < 0.01 * options.expected_bps
