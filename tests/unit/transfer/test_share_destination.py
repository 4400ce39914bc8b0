"""What is set for a destination reaches the files on their way to it."""

from pathlib import Path

import pytest

from advisor.domain.endpoints import Endpoint
from advisor.runtime.control import Control
from advisor.runtime.request import ConnectionOptions
from advisor.store.history import Store
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.options import DeliveryOptions
from advisor.transfer.shared.destination import DestinationSession


class Idle(DestinationSession):
    async def _run(self) -> int:
        raise NotImplementedError


@pytest.mark.asyncio
async def test_files_have_the_setting_from_before_they_move_and_every_later_one(
    tmp_path: Path,
) -> None:
    session = Idle(
        ConnectionOptions(destination=Endpoint(host="far")),
        DeliveryOptions(journals=tmp_path, receipts=tmp_path),
        Store(tmp_path),
        lambda *_: None,
        Control(),
    )
    group = FileGroup("far", [])
    session.concurrency, session.parallelism, session.expected_bps = 2, 4, 24e6
    session.take_up(group)
    assert (group.concurrency, group.parallelism, group.expected_bps) == (2, 4, 24e6)
    session.concurrency, session.parallelism, session.expected_bps = 5, 2, 40e6
    assert (group.concurrency, group.parallelism, group.expected_bps) == (5, 2, 40e6)
    session.lay_down()
    assert session.expected_bps == 40e6, "It may be served again."
