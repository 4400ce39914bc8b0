"""What was moved is compared: every file of it, and those that differ even when moved twice."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from advisor import registry
from advisor.agent.connect import reach_embedded
from advisor.domain.manifest import EntryKind, Exclusion, ListingRules
from advisor.hosts.datasets import file_entry
from advisor.hosts.source_listing import manifest_of
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


def state(folder: Path, exclusions: Sequence[Exclusion] = ()) -> TransferState:
    group = FileGroup("all", FILES, done={one.name: [(0, one.size_bytes)] for one in FILES})
    return TransferState([group], TransferJournal(folder, PLACES, print), exclusions)


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


@pytest.mark.asyncio
@pytest.mark.parametrize("stopped_at", [1, 2])
async def test_what_is_stopped_while_it_is_compared_is_not_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stopped_at: int
) -> None:
    """At its first comparison, or at that of what was moved a second time."""
    comparisons = 0

    async def compared(one: Any, _: Any) -> None:
        one.differing = frozenset("b")

    async def until_stopped(work: Any) -> bool:
        nonlocal comparisons
        await work
        comparisons += 1
        return comparisons < stopped_at

    monkeypatch.setattr(module._Verifying, "compare", compared)
    before = state(tmp_path)
    arrived = outcome_of(before, 1.0, None, is_over=True)

    async def move(_: TransferState) -> TransferOutcome:
        return arrived

    stopping = session()
    stopping.control.until_stopped = until_stopped
    route = Route(tool=registry.transfer_tool("rclone"), path=a_path(), places=PLACES)
    found = await verified(stopping, route, before, arrived, move)
    assert comparisons == stopped_at
    assert (found.complete, found.exit_code) == (False, 130)
    assert not found.has_all_files, "Else a receipt would be signed over what was not compared."
    assert found.message.startswith("stopped during the comparison: 2 files are there")


@pytest.mark.asyncio
async def test_what_is_moved_again_is_compared_where_something_was_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[set[str]] = []

    async def compared(one: Any, files: Any) -> None:
        one.differing = frozenset() if seen else frozenset("b")
        seen.append({file.name for file in files})

    monkeypatch.setattr(module._Verifying, "compare", compared)
    before = state(tmp_path, [Exclusion(name="a socket", reason="a socket")])
    arrived = outcome_of(before, 1.0, None, is_over=True)

    async def move(again: TransferState) -> TransferOutcome:
        return outcome_of(state(tmp_path, again.exclusions), 1.0, None, is_over=True)

    route = Route(tool=registry.transfer_tool("rclone"), path=a_path(), places=PLACES)
    found = await verified(session(), route, before, arrived, move)
    assert seen == [{"a", "b"}, {"b"}]
    assert (found.complete, found.has_all_files) == (False, True)
    assert found.missing == ["a socket: a socket"]


@pytest.mark.asyncio
async def test_what_was_left_out_is_still_said_where_the_second_attempt_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def compared(one: Any, _: Any) -> None:
        one.differing = frozenset("b")

    monkeypatch.setattr(module._Verifying, "compare", compared)
    before = state(tmp_path, [Exclusion(name="a socket", reason="a socket")])
    arrived = outcome_of(before, 1.0, None, is_over=True)

    async def move(again: TransferState) -> TransferOutcome:
        return outcome_of(again, 1.0, None, is_over=False)

    route = Route(tool=registry.transfer_tool("rclone"), path=a_path(), places=PLACES)
    found = await verified(session(), route, before, arrived, move)
    assert not found.has_all_files
    assert found.missing == ["a socket: a socket"]


async def compared(source: Path, target: Path, files: list[FileEntry]) -> tuple[set[str], str]:
    """The names of those that differ or cannot be compared, and what is said."""
    told: list[str] = []

    def tell(_: object, *, message: str = "", **__: object) -> None:
        if message:
            told.append(message)

    places = Places(source=str(source), target=str(target), destination_host="c")
    route = Route(tool=registry.transfer_tool("rclone"), path=a_path(), places=places)
    reached = await reach_embedded()
    try:
        verifying = module._Verifying(reached.link, route, tell)
        await verifying.compare(files)
    finally:
        await reached.link.close()
    [said] = told
    return set(verifying.differing), said


@pytest.fixture
def linked(tmp_path: Path) -> tuple[Path, Path, list[FileEntry]]:
    """A source with links, what is moved of it where they are followed, and a true copy of that."""
    source, copy = tmp_path / "source", tmp_path / "copy"
    source.mkdir()
    (tmp_path / "elsewhere/deep").mkdir(parents=True)
    for name in ("elsewhere/f", "elsewhere/deep/f", "source/plain"):
        (tmp_path / name).write_text(f"content of {name}")
    (source / "folder").symlink_to("../elsewhere")
    (source / "file").symlink_to("../elsewhere/f")
    subprocess.run(["cp", "-rL", source, copy], check=True)
    found = manifest_of(source, ListingRules(follow_links=True)).of_kind(EntryKind.FILE)
    files = [file_entry(one) for one in found]
    assert {one.name for one in files} == {"plain", "file", "folder/f", "folder/deep/f"}
    return source, copy, files


@pytest.mark.asyncio
async def test_files_below_a_followed_link_are_compared(
    linked: tuple[Path, Path, list[FileEntry]],
) -> None:
    source, copy, files = linked
    assert await compared(*linked) == (set(), "All 4 files compared by checksum: identical.")
    (copy / "folder/deep/f").write_text("Content of elsewhere/deep/f")
    (copy / "folder/f").unlink()
    differing, said = await compared(source, copy, files)
    assert differing == {"folder/f", "folder/deep/f"}
    assert said.startswith("2 of 4 files differ at the destination, the first: folder/deep/f")


@pytest.mark.asyncio
async def test_a_file_that_is_gone_is_not_called_identical(
    linked: tuple[Path, Path, list[FileEntry]], tmp_path: Path
) -> None:
    source, copy, files = linked
    (source / "plain").unlink()
    (source / "folder").unlink()
    (tmp_path / "elsewhere/f").unlink()
    differing, said = await compared(source, copy, files)
    assert differing == {"plain", "file", "folder/f", "folder/deep/f"}
    assert said == (
        "4 of 4 files differ at the destination or could not be compared, the first: file "
        "(unreadable)."
    )


@pytest.mark.asyncio
async def test_a_single_file_and_none_are_compared(tmp_path: Path) -> None:
    (tmp_path / "source").write_text("content")
    (tmp_path / "copy").write_text("content")
    [file] = manifest_of(tmp_path / "source").of_kind(EntryKind.FILE)
    places = (tmp_path / "source", tmp_path / "copy")
    told = await compared(*places, [file_entry(file)])
    assert told == (set(), "The one file compared by checksum: identical.")
    assert await compared(*places, []) == (set(), "All 0 files compared by checksum: identical.")
