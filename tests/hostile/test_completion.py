"""What was proven is changed at the destination before the transfer is called complete."""

import asyncio
import errno
import os
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import msgspec
import pytest
import pytest_asyncio

from advisor import registry
from advisor.agent import claim_files, claims, signing
from advisor.agent.claim_files import is_claim
from advisor.agent.client import AgentLink
from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Endpoint
from advisor.domain.proof import Existing
from advisor.hosts.source_listing import manifest_of
from advisor.models.slicing import Part
from advisor.runtime.exit_codes import EXIT_DONE, EXIT_FAILED
from advisor.runtime.request import TransferRequest
from advisor.transfer.engine.completion import Completion, ReceiptNotWritten, complete
from advisor.transfer.engine.delivery import Delivery, TargetRefused
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.journal import NotedPart, TransferJournal
from advisor.transfer.engine.options import DeliveryOptions
from advisor.transfer.engine.outcome import TransferState, after_completion, outcome_of
from advisor.transfer.engine.places import Places
from tests.unit.agent.linked import linked


class Moving:
    """A transfer of `src` to `dst` with a real agent, in which `cp` is the tool."""

    def __init__(self, folder: Path, journal: TransferJournal) -> None:
        self.source, self.target, self.folder = folder / "src", folder / "dst", folder
        self.journal = journal
        self.options = DeliveryOptions(journals=folder / "journals", receipts=folder / "receipts")
        self.told: list[str] = []
        self.delivery: Delivery

    @property
    def places(self) -> Places:
        return Places(
            source=str(self.source), target=str(self.target), destination_host="localhost"
        )

    def open(self, **options: object) -> None:
        self.options = msgspec.structs.replace(self.options, **options)
        tool = registry.transfer_tool("rsync")
        self.delivery = Delivery(
            self.places, tool, manifest_of(self.source), self.options, self.told.append
        )

    async def move(self, link: AgentLink, *names: str, pieces: int = 1) -> None:
        """Copy and prove files, each in so many pieces."""
        for file in self.delivery.files:
            if file.name in names:
                shutil.copyfile(self.source / file.name, self.target / file.name)
                size = file.size_bytes // pieces
                parts = [Part(file, number * size, size) for number in range(pieces)]
                checks = await self.delivery.proofs.prove(link, parts, asyncio.Lock())
                assert not any(one.reason for one in checks)
                pairs = zip(parts, checks, strict=True)
                await self.journal.note([NotedPart(part, one.digest) for part, one in pairs])

    async def complete(self, link: AgentLink) -> Completion:
        request = TransferRequest(
            destination=Endpoint("localhost"),
            dataset=Dataset(total_bytes=1),
            destination_path=str(self.target),
        )
        return await complete(self.delivery, link, request, self.options, "rsync", self.places)


@pytest_asyncio.fixture
async def moving(tmp_path: Path) -> AsyncIterator[Moving]:
    for name in ("src", "dst"):
        (tmp_path / name).mkdir()
    for name in ("a", "b"):
        (tmp_path / "src" / name).write_bytes(name.encode() * 5000)
    places = Places(
        source=str(tmp_path / "src"), target=str(tmp_path / "dst"), destination_host="localhost"
    )
    with TransferJournal(tmp_path / "journals", places, print) as journal:
        yield Moving(tmp_path, journal)


def _truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:100])


def _replace_by_link(file: Path) -> None:
    file.rename(file.with_suffix(".moved"))
    file.symlink_to(file.with_suffix(".moved").name)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("size", "attack"),
    [(5000, Path.unlink), (5000, _truncate), (5000, _replace_by_link), (0, _replace_by_link)],
)
async def test_a_file_that_is_no_longer_as_it_was_proven(
    moving: Moving, size: int, attack: Callable[[Path], None]
) -> None:
    (moving.source / "a").write_bytes(bytes(size))
    moving.open()
    async with linked() as link:
        await moving.delivery.prepare(moving.journal, link)
        await moving.move(link, "a", "b")
        attack(moving.target / "a")
        completion = await moving.complete(link)
    assert set(completion.not_there) == {"a"}
    assert completion.receipt is None
    assert not (moving.folder / "receipts").exists()

    group = FileGroup("all", moving.delivery.files, done={"a": [(0, size)], "b": [(0, 5000)]})
    arrived = outcome_of(TransferState([group], moving.journal), 1.0, None, is_over=True)
    assert arrived.exit_code == EXIT_DONE
    outcome = after_completion(arrived, completion, moving.delivery.manifest)
    assert (outcome.exit_code, outcome.complete, outcome.missing_files) == (EXIT_FAILED, False, 1)
    assert "'a'" in outcome.message

    # And the same command moves it again, and nothing else.
    moving.open()
    async with linked() as link:
        assert await moving.delivery.prepare(moving.journal, link) == {"b": [(0, 5000)]}
        await moving.move(link, "a")
        completion = await moving.complete(link)
    assert (completion.not_there, completion.not_represented) == ({}, {})
    assert completion.receipt is not None


@pytest.mark.asyncio
async def test_names_that_are_one_at_the_destination(moving: Moving) -> None:
    (moving.source / "A").write_bytes(b"A" * 5000)
    moving.open()
    async with linked() as link:
        await moving.delivery.prepare(moving.journal, link)
        await moving.move(link, "A")
        # As on a file system that ignores case: the second is written into the first.
        (moving.target / "a").hardlink_to(moving.target / "A")
        await moving.move(link, "a", "b")
        completion = await moving.complete(link)
    assert set(completion.not_there) == {"A"}
    assert completion.receipt is None


@pytest.mark.asyncio
async def test_links_and_folders_whose_places_are_taken(moving: Moving) -> None:
    (moving.source / "link").symlink_to("a")
    (moving.source / "folder").mkdir()
    moving.open()
    async with linked() as link:
        await moving.delivery.prepare(moving.journal, link)
        await moving.move(link, "a", "b")
        for name in ("link", "folder"):
            (moving.target / name).write_text("somebody's")
        completion = await moving.complete(link)
    assert set(completion.not_there) == {"link", "folder"}
    assert completion.receipt is None


@pytest.mark.asyncio
async def test_where_no_receipt_was_asked_for_a_full_disk_is_only_said(moving: Moving) -> None:
    (moving.folder / "receipts").write_text("in the way")
    moving.open()
    async with linked() as link:
        await moving.delivery.prepare(moving.journal, link)
        await moving.move(link, "a", "b")
        completion = await moving.complete(link)
    assert completion.receipt is None
    assert "receipt could not be written" in completion.receipt_trouble


@pytest.mark.asyncio
async def test_that_the_mark_of_an_unfinished_transfer_stays_is_said(
    moving: Moving, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: Path) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(claims, "remove", refused)
    moving.open()
    async with linked() as link:
        await moving.delivery.prepare(moving.journal, link)
        await moving.move(link, "a", "b")
        completion = await moving.complete(link)
    [mark] = [one.name for one in moving.target.iterdir() if is_claim(one.name)]
    assert completion.claim_left == f"{mark}: Operation not permitted"
    # All is proven.
    assert completion.receipt is not None


@pytest.mark.asyncio
async def test_a_receipt_that_cannot_be_written_is_not_lost(moving: Moving) -> None:
    (moving.folder / "in the way").write_text("")
    moving.open(receipt=moving.folder / "in the way" / "receipt.json")
    async with linked() as link:
        await moving.delivery.prepare(moving.journal, link)
        await moving.move(link, "a", "b")
        with pytest.raises(ReceiptNotWritten, match=r"receipt could not be written to .*Not a dir"):
            await moving.complete(link)
    # The claim stays that of this transfer, so the same command completes it.
    moving.open(receipt=moving.folder / "receipt.json")
    async with linked() as link:
        assert set(await moving.delivery.prepare(moving.journal, link)) == {"a", "b"}
        completion = await moving.complete(link)
    assert completion.receipt == moving.folder / "receipt.json"
    assert completion.receipt.exists()


@pytest.mark.asyncio
async def test_a_claim_without_a_journal_does_not_make_files_there_ours(moving: Moving) -> None:
    """The first run was ended after its claim, before it had moved anything."""
    moving.open()
    async with linked() as link:
        await moving.delivery._claim(moving.journal.token, link)
    (moving.target / "a").write_text("somebody's")
    moving.open()
    async with linked() as link:
        with pytest.raises(TargetRefused, match=r"at the destination already: .*/dst/a'"):
            await moving.delivery.prepare(moving.journal, link)
    assert (moving.target / "a").read_text() == "somebody's"


@pytest.mark.asyncio
async def test_no_file_gets_the_rights_of_its_owner(moving: Moving) -> None:
    (moving.source / "a").chmod(0o4755)
    moving.open()
    async with linked() as link:
        await moving.delivery.prepare(moving.journal, link)
        await moving.move(link, "a", "b")
        completion = await moving.complete(link)
    assert (moving.target / "a").stat().st_mode & 0o7777 == 0o755
    assert completion.not_represented == {
        str(moving.target / "a"): "set-user-ID, set-group-ID and sticky bits are not kept"
    }


@pytest.mark.asyncio
async def test_links_do_not_count_as_the_files_they_lead_to(moving: Moving) -> None:
    (moving.target / "a").symlink_to(moving.source / "a")
    moving.open(existing=Existing.SKIP)
    async with linked() as link:
        with pytest.raises(TargetRefused, match=r"with other content: .*/dst/a'"):
            await moving.delivery.prepare(moving.journal, link)


@pytest.mark.asyncio
@pytest.mark.parametrize("of", ["the same path", "another one"])
async def test_the_claim_of_a_transfer_to_the_source_is_not_moved(moving: Moving, of: str) -> None:
    """At the same path there it would replace that of this transfer."""
    claimed = moving.target if of == "the same path" else moving.source
    mark = claim_files.name_of(str(claimed))
    (moving.source / mark).write_text("{}")
    moving.open()
    [left_out] = moving.delivery.manifest.unwanted
    assert left_out.name == mark
    async with linked() as link:
        await moving.delivery.prepare(moving.journal, link)
        await moving.move(link, *(one.name for one in moving.delivery.files))
        completion = await moving.complete(link)
    assert (completion.not_there, completion.new, completion.claim_left) == ({}, (), "")
    assert completion.receipt is not None
    assert sorted(one.name for one in moving.target.iterdir()) == ["a", "b"]


@pytest.mark.asyncio
@pytest.mark.parametrize(("there", "is_same"), [("a", True), ("/etc/passwd", False)])
async def test_existing_links_are_kept_if_they_say_the_same(
    moving: Moving, there: str, is_same: bool
) -> None:
    (moving.source / "link").symlink_to("a")
    (moving.target / "link").symlink_to(there)
    moving.open(existing=Existing.SKIP)
    async with linked() as link:
        if is_same:
            await moving.delivery.prepare(moving.journal, link)
        else:
            with pytest.raises(TargetRefused, match=r"with other content: .*/dst/link'"):
                await moving.delivery.prepare(moving.journal, link)


@pytest.mark.asyncio
async def test_a_link_that_an_interrupted_run_left_is_made_again(moving: Moving) -> None:
    (moving.source / "link").symlink_to("a")
    moving.open()
    async with linked() as link:
        await moving.delivery.prepare(moving.journal, link)
        await moving.move(link, "a", "b")
    (moving.target / "link").symlink_to("/etc/passwd")
    moving.open()
    async with linked() as link:
        await moving.delivery.prepare(moving.journal, link)
        completion = await moving.complete(link)
    assert completion.not_there == {}
    assert (moving.target / "link").readlink() == Path("a")


@pytest.mark.asyncio
@pytest.mark.parametrize("changed", ["boot", "key"])
async def test_what_was_proven_before_a_restart_is_read_again(
    moving: Moving, changed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    moving.open()
    async with linked() as link:
        await moving.delivery.prepare(moving.journal, link)
        await moving.move(link, "a", "b")
    # Of "a" nothing had reached the disk.
    (moving.target / "a").write_bytes(bytes(5000))
    if changed == "boot":
        monkeypatch.setattr("advisor.agent.delivery._boot", lambda: "another")
    else:
        key = signing.AgentKey(bytes(32))
        monkeypatch.setattr(signing, "agent_key", lambda: key)
    async with linked() as link:
        assert await moving.delivery.prepare(moving.journal, link) == {"b": [(0, 5000)]}
        await moving.move(link, "a", pieces=2)
        completion = await moving.complete(link)
    assert (moving.target / "a").read_bytes() == b"a" * 5000
    assert completion.receipt is not None


@pytest.mark.asyncio
async def test_after_a_lost_connection_nothing_is_read_twice(moving: Moving) -> None:
    moving.open()
    async with linked() as link:
        await moving.delivery.prepare(moving.journal, link)
        await moving.move(link, "a")
    (moving.target / "a").write_bytes(bytes(5000))
    async with linked() as link:
        # Nobody but this transfer may write there: its size is enough.
        assert await moving.delivery.prepare(moving.journal, link) == {"a": [(0, 5000)]}
