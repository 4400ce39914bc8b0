"""What a file group counts while clients come and go."""

import pytest

from advisor.models.slicing import FileEntry
from advisor.transfer.engine.client import Client
from advisor.transfer.engine.file_group import FileGroup

MIB = 2**20


@pytest.mark.asyncio
async def test_what_was_carried_never_falls() -> None:
    """A client stalls: its piece is moved again, but the path did carry what it had."""
    group = FileGroup("all", [FileEntry("sky", 8 * MIB, 0)])
    batch = group.work.draw(4 * MIB, 1)
    assert batch is not None
    stalled = Client(batch, 1.0, 15.0, lambda _: None)
    group.clients.add(stalled)
    stalled.moved_bytes = 3 * MIB
    assert (group.moved_bytes, group.carried_bytes) == (3 * MIB, 3 * MIB)
    group.work.give_back(batch)
    group.leave(stalled)
    assert (group.moved_bytes, group.carried_bytes) == (0, 3 * MIB)
    assert not group.clients


def test_what_had_arrived_before_was_not_carried_now() -> None:
    sky = FileEntry("sky", 8 * MIB, 0)
    whole = FileGroup("all", [sky])
    batch = whole.work.draw(8 * MIB, 1)
    assert batch is not None
    whole.work.done(batch)
    assert (whole.moved_bytes, whole.carried_bytes) == (batch.total_bytes, 0)
