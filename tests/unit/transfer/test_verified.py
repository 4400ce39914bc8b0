"""A transfer whose files differ from the source even after they were moved twice."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from advisor import registry
from advisor.models.slicing import FileEntry
from advisor.testing.samples import a_path
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.journal import TransferJournal
from advisor.transfer.engine.outcome import TransferOutcome, TransferState, outcome_of
from advisor.transfer.engine.places import Places
from advisor.transfer.engine.route import Route
from advisor.transfer.tuned import verified as module
from advisor.transfer.tuned.verified import verified

FILES = [FileEntry("a", 5, 0), FileEntry("b", 5, 0)]
PLACES = Places(source="/a", target="/b", destination_host="c")


def state(folder: Path) -> TransferState:
    group = FileGroup("all", FILES, done={one.name: [(0, one.size_bytes)] for one in FILES})
    return TransferState([group], TransferJournal(folder, PLACES, print))


def session() -> Any:
    """Whose user does not stop, and whose agent has proven nothing."""

    async def until_stopped(work: Any) -> bool:
        await work
        return True

    return SimpleNamespace(
        far_end=SimpleNamespace(link=None),
        events=SimpleNamespace(emit=lambda *_, **__: None),
        control=SimpleNamespace(until_stopped=until_stopped),
        delivery=SimpleNamespace(
            proofs=SimpleNamespace(forget=lambda _: None, of_file=lambda _: [])
        ),
    )


@pytest.mark.asyncio
async def test_what_differs_twice_is_not_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def compared(one: Any, _: Any) -> None:
        one.differing = {"b"}

    monkeypatch.setattr(module._Verifying, "compare", compared)
    before = state(tmp_path)
    arrived = outcome_of(before, 1.0, None, is_over=True)
    assert arrived.complete

    async def move(_: TransferState) -> TransferOutcome:
        return arrived

    route = Route(tool=registry.transfer_tool("rclone"), path=a_path(), places=PLACES)
    found = await verified(session(), route, before, arrived, move)
    assert not found.complete
    # Else the target would be completed, and a receipt signed over what differs.
    assert not found.has_all_files
    assert found.exit_code == 1
    assert found.missing == ["b: it differs at the destination"]
