"""A malicious advisor, and a hostile folder, against what an agent does with a target."""

import asyncio
import contextlib
import hashlib
import os
import secrets
import stat
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from advisor.agent import claim_files, claims
from advisor.agent import target_messages as t
from advisor.agent.claim_files import is_claim
from advisor.agent.client import AgentLink
from advisor.agent.delivery import Delivery
from advisor.agent.files import ANYWHERE, FileRights
from advisor.agent.peer_errors import Refusal
from advisor.agent.signing import is_signed
from advisor.agent.target import RemoteTarget, TargetBusy
from advisor.domain.proof import Algorithm, Statement
from advisor.hosts.checksums import Reading, ReadingStopped
from tests.unit.agent.linked import linked

MANIFEST = "a" * 64


def asked(folder: Path, ask: Callable[[AgentLink], Awaitable[None]]) -> None:
    """Ask an agent that was given this folder."""

    async def run() -> None:
        async with linked(FileRights([folder])) as link:
            await ask(link)

    asyncio.run(run())


def claim_of(target: Path) -> t.ClaimTarget:
    return t.ClaimTarget(
        target=str(target), manifest=MANIFEST, token=secrets.token_hex(32), who="me"
    )


@pytest.fixture
def offered(tmp_path: Path) -> Path:
    (tmp_path / "offered" / "there").mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "outside").mkdir()
    (tmp_path / "offered/there/link").symlink_to(tmp_path / "outside")
    (tmp_path / "offered/beside").write_text("beside")
    return tmp_path / "offered"


def test_nothing_is_changed_without_a_claim(offered: Path) -> None:
    async def ask(link: AgentLink) -> None:
        target = RemoteTarget(link)
        failed = await target.remove([str(offered / "beside")])
        assert failed
        assert await target.make_folders([str(offered / "new")])
        with pytest.raises(Refusal, match="no target is claimed"):
            await target.sign(Algorithm.BLAKE3, [], MANIFEST, "tool")
        with pytest.raises(Refusal, match="no target is claimed"):
            await target.release(done=True)

    asked(offered, ask)
    assert (offered / "beside").exists()
    assert not (offered / "new").exists()


def test_nothing_outside_the_claimed_target_is_changed(offered: Path, tmp_path: Path) -> None:
    there = offered / "there"
    outside = [
        str(offered / "beside"),
        str(there / "../beside"),
        str(there / "link/inside"),
        str(tmp_path / "secret"),
        f"{there}-more",
        str(there / ".."),
        "/",
    ]

    async def ask(link: AgentLink) -> None:
        target = RemoteTarget(link)
        await target.claim(claim_of(there))
        assert set(await target.remove(outside)) == set(outside)
        assert set(await target.make_folders(outside)) == set(outside)
        links = [(path, "/etc/passwd") for path in outside]
        assert set(await target.make_links(links)) == set(outside)
        attributes: list[tuple[str, int | None, int]] = [(path, 0o777, 0) for path in outside]
        assert set(await target.set_attributes(attributes)) == set(outside)
        assert {one and one[0] for one in await target.look(outside)} == {"outside"}

    before = {path: path.lstat() for path in (tmp_path / "secret", offered / "beside", tmp_path)}
    asked(offered, ask)
    for path, status in before.items():
        assert path.lstat().st_mode == status.st_mode
    assert not list((tmp_path / "outside").iterdir())
    assert (offered / "beside").read_text() == "beside"


def test_links_are_not_followed_inside_either(offered: Path, tmp_path: Path) -> None:
    there = offered / "there"
    (there / "to secret").symlink_to(tmp_path / "secret")
    (tmp_path / "secret").chmod(0o600)
    modified_ns = (tmp_path / "secret").stat().st_mtime_ns

    async def ask(link: AgentLink) -> None:
        target = RemoteTarget(link)
        await target.claim(claim_of(there))
        assert await target.look([str(there / "to secret")]) == [("link", 0)]
        assert await target.set_attributes([(str(there / "to secret"), 0o777, 10**18)])
        assert not await target.set_attributes([(str(there / "to secret"), None, 10**18)])
        assert (there / "to secret").lstat().st_mtime_ns == 10**18
        [found] = await target.digests(Algorithm.SHA256, [(str(there / "to secret"), 0, 6)])
        assert found.digest == ""
        assert found.reason
        assert not await target.remove([str(there / "to secret")])

    asked(offered, ask)
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600
    assert (tmp_path / "secret").stat().st_mtime_ns == modified_ns
    assert (tmp_path / "secret").exists()
    assert not os.path.lexists(there / "to secret")


def test_a_link_to_the_source_is_no_copy(offered: Path, tmp_path: Path) -> None:
    """Nothing was moved, but what the links lead to is equal to the source in every byte."""
    source, there = offered / "source", offered / "there"
    source.mkdir()
    (source / "f").write_text("content")
    (there / "f").symlink_to("../source/f")
    (there / "folder").symlink_to(source)
    (there / "g").symlink_to("plain")
    (there / "plain").write_text("content")
    linked_paths = [str(there / "f"), str(there / "folder/f"), str(there / "g")]
    plain = str(there / "plain")
    ranges = [(path, 0, 7) for path in linked_paths]

    async def refuses(link: AgentLink) -> None:
        assert await link.sizes([*linked_paths, plain]) == [None, None, None, 7]
        for one in await RemoteTarget(link).digests(Algorithm.BLAKE3, ranges):
            assert not one.digest
            assert not one.seal
            assert "link" in one.reason or "leads out" in one.reason
        *refused, copy = await link.checksums([*linked_paths, plain])
        assert all(one.reason and not one.sha256 for one in refused)
        assert copy.sha256

    async def ask(link: AgentLink) -> None:
        # A copy that somebody compares may be anywhere.
        assert await link.sizes(linked_paths) == [7, 7, 7]
        assert all(one.sha256 for one in await link.checksums(linked_paths))
        # That of a receipt may be reached through one, but none of its files is one.
        found = await RemoteTarget(link).digests(Algorithm.BLAKE3, ranges)
        assert [bool(one.digest) for one in found] == [False, True, False]
        assert found[0].reason == "a symbolic link, which is not followed"
        token = secrets.token_hex(32)
        claimed = await claimed_by(link, there, token)
        await refuses(link)
        async with linked(FileRights([offered])) as other:
            await RemoteTarget(other).join(joining(there, token, claimed.since_s))
            await refuses(other)
        # What is not in the target is none of the claim's business.
        assert await link.sizes([str(offered / "there/../source/f")]) == [7]

    asked(offered, ask)


def test_a_target_that_is_reached_through_a_link_is_read(offered: Path) -> None:
    (offered / "there/f").write_text("content")
    (offered / "way").symlink_to("there")

    async def ask(link: AgentLink) -> None:
        for target in (f"{offered}/way", f"{offered}/./way", f"{offered}//there/../way/"):
            claim = msgspec.structs.replace(claim_of(offered), target=target)
            await RemoteTarget(link).claim(claim)
            for path in (f"{target}/f", str(offered / "there/f")):
                assert await link.sizes([path]) == [7]
                [found] = await RemoteTarget(link).digests(Algorithm.BLAKE3, [(path, 0, 7)])
                assert found.digest
                assert found.seal
            await RemoteTarget(link).release(done=True)

    asked(offered, ask)


def test_only_what_the_agent_has_read_is_signed(offered: Path) -> None:
    there = offered / "there"
    (there / "f").write_bytes(b"content")
    path = str(there / "f")

    async def ask(link: AgentLink) -> None:
        target = RemoteTarget(link)
        await target.claim(claim_of(there))
        [found] = await target.digests(Algorithm.BLAKE3, [(path, 0, 7)])
        true = t.SealedPiece(path, 0, 7, found.digest, found.seal)
        lies = [
            msgspec.structs.replace(true, digest="ab" * 32),
            msgspec.structs.replace(true, size_bytes=6),
            msgspec.structs.replace(true, offset_bytes=1),
            msgspec.structs.replace(true, path=str(there / "g")),
            msgspec.structs.replace(true, seal="cd" * 32),
        ]
        for lie in lies:
            with pytest.raises(Refusal, match="has not read"):
                await target.sign(Algorithm.BLAKE3, [lie], MANIFEST, "tool")
        with pytest.raises(Refusal, match="has not read"):
            await target.sign(Algorithm.SHA256, [true], MANIFEST, "tool")
        signed = await target.sign(Algorithm.BLAKE3, [true], MANIFEST, "tool")
        assert is_signed(signed.statement.encode(), signed.signature, signed.public_key)
        assert not is_signed(b"other", signed.signature, signed.public_key)
        statement = msgspec.json.decode(signed.statement, type=Statement)
        assert (statement.pieces, statement.manifest_digest) == (1, MANIFEST)
        # A seal of one transfer says nothing in another.
        await target.release(done=True)
        await target.claim(claim_of(there))
        with pytest.raises(Refusal, match="has not read"):
            await target.sign(Algorithm.BLAKE3, [true], MANIFEST, "tool")

    asked(offered, ask)


@pytest.mark.parametrize("is_waited_for", [True, False])
def test_the_claim_is_kept_while_an_entry_is_still_changed(
    offered: Path, monkeypatch: pytest.MonkeyPatch, is_waited_for: bool
) -> None:
    """The advisor has left, but the thread on a slow file system cannot be ended."""
    there = offered / "there"
    delivery, reading = Delivery(ANYWHERE, keeps_key=False), Reading()
    begun, goes_on = threading.Event(), threading.Event()
    real = Delivery._make_folder

    def slowly(self: Delivery, path: str) -> None:
        begun.set()
        assert goes_on.wait(20)
        real(self, path)

    monkeypatch.setattr(Delivery, "_make_folder", slowly)
    delivery.answer(claim_of(there), reading)
    request = t.MakeFolders(paths=[str(there / "a"), str(there / "b")])
    with contextlib.suppress(ReadingStopped), ThreadPoolExecutor(1) as pool:
        working = pool.submit(delivery.answer, request, reading)
        assert begun.wait(20)
        if not is_waited_for:
            reading.stop()
        delivery.close()
        assert isinstance(
            Delivery(ANYWHERE, keeps_key=False).answer(claim_of(there), Reading()), t.TargetTaken
        )
        goes_on.set()
        working.result()
    assert (there / "a").is_dir()
    assert (there / "b").is_dir() is is_waited_for
    another = Delivery(ANYWHERE, keeps_key=False)
    assert isinstance(another.answer(claim_of(there), Reading()), t.TargetClaimed)
    another.close()


def test_a_receipt_has_its_own_pieces_of_one_algorithm(offered: Path) -> None:
    there = offered / "there"
    (there / "f").write_bytes(b"content")
    path = str(there / "f")

    async def ask(link: AgentLink) -> None:
        target = RemoteTarget(link)
        await target.claim(claim_of(there))

        async def read(algorithm: Algorithm) -> t.SealedPiece:
            [found] = await target.digests(algorithm, [(path, 0, 7)])
            return t.SealedPiece(path, 0, 7, found.digest, found.seal)

        async def signed(algorithm: Algorithm, *pieces: t.SealedPiece) -> Statement:
            reply = await target.sign(algorithm, pieces, MANIFEST, "tool")
            return msgspec.json.decode(reply.statement, type=Statement)

        blake3, sha256 = await read(Algorithm.BLAKE3), await read(Algorithm.SHA256)
        first = await signed(Algorithm.BLAKE3, blake3)
        # What was signed once is in no other receipt.
        second = await signed(Algorithm.BLAKE3, blake3)
        assert (first.pieces, second.pieces) == (1, 1)
        assert second.pieces_digest == first.pieces_digest
        third = await signed(Algorithm.BLAKE3)
        assert third.pieces == 0
        assert third.pieces_digest == hashlib.sha256().hexdigest()
        added = t.AddToReceipt(algorithm=Algorithm.BLAKE3, pieces=[blake3])
        await link.work(added, t.ReceiptGrown)
        with pytest.raises(Refusal, match="same algorithm"):
            await target.sign(Algorithm.SHA256, [sha256], MANIFEST, "tool")
        mixed = await signed(Algorithm.BLAKE3)
        assert (mixed.algorithm, mixed.pieces) == (Algorithm.BLAKE3, 1)
        other = await signed(Algorithm.SHA256, sha256)
        assert (other.algorithm, other.pieces) == (Algorithm.SHA256, 1)
        await link.work(added, t.ReceiptGrown)
        await target.release(done=True)
        await target.claim(claim_of(there))
        empty = await signed(Algorithm.BLAKE3)
        assert (empty.pieces, empty.pieces_digest) == (0, third.pieces_digest)

    asked(offered, ask)


def test_one_conversation_has_one_target(offered: Path) -> None:
    async def ask(link: AgentLink) -> None:
        target = RemoteTarget(link)
        first = claim_of(offered / "there")
        claimed = await target.claim(first)
        for again in (first, claim_of(offered / "other")):
            with pytest.raises(Refusal, match="there is claimed already"):
                await target.claim(again)
        with pytest.raises(Refusal, match="there is claimed already"):
            await target.join(joining(offered / "there", first.token, claimed.since_s))
        await target.release(done=True)
        await target.claim(claim_of(offered / "other"))

    asked(offered, ask)
    assert not any(is_claim(one.name) for one in (offered / "there").iterdir())


def test_a_claim_is_neither_made_nor_changed_on_request(offered: Path) -> None:
    """Its own is the agent's alone, and one that is moved in would keep others out."""
    there = offered / "there"
    (there / "scratch").mkdir()

    async def ask(link: AgentLink) -> None:
        target = RemoteTarget(link)
        await target.claim(claim_of(there))
        [own] = [one for one in there.iterdir() if is_claim(one.name)]
        before = (own.read_bytes(), own.stat().st_mode, own.stat().st_mtime_ns)
        planted = there / claim_files.name_of(str(there / "scratch"))
        for mark in (own, planted):
            path = str(mark)
            refused = f"{path} does not name a file that may be written"
            for change in (
                target.remove([path]),
                target.make_folders([path]),
                target.make_links([(path, "/etc/passwd")]),
                target.set_attributes([(path, 0o777, 0)]),
            ):
                assert (await change)[path] == refused[:100]
            scratch = await link.make_scratch(str(there))
            Path(scratch, "file").write_text("{}")
            with pytest.raises(Refusal, match="may be written"):
                await link.move([(f"{scratch}/file", path)])
            await link.remove(scratch)
        assert (own.read_bytes(), own.stat().st_mode, own.stat().st_mtime_ns) == before
        assert not os.path.lexists(planted)

    asked(offered, ask)


def test_an_advisor_that_leaves_gives_up_its_claim(offered: Path) -> None:
    first = claim_of(offered / "there")

    async def take(link: AgentLink) -> None:
        await RemoteTarget(link).claim(first)

    async def see(link: AgentLink) -> None:
        other = msgspec.structs.replace(claim_of(offered / "there"), manifest="b" * 64)
        with pytest.raises(TargetBusy, match="unfinished transfer of me"):
            await RemoteTarget(link).claim(other)
        assert (await RemoteTarget(link).claim(first)).is_resumed

    asked(offered, take)
    asked(offered, see)


def claimed_by(link: AgentLink, folder: Path, token: str) -> Awaitable[t.TargetClaimed]:
    wanted = t.ClaimTarget(target=str(folder), manifest=MANIFEST, token=token, who="me")
    return RemoteTarget(link).claim(wanted)


def test_what_another_transfer_writes_in_the_target_is_not_touched(offered: Path) -> None:
    """It is seen where this transfer comes to it, before anything there is removed or written."""
    inside = offered / "there/run42"
    inside.mkdir()

    async def ask(link: AgentLink) -> None:
        async with linked(FileRights([offered])) as other:
            await claimed_by(other, inside, secrets.token_hex(32))
            target = RemoteTarget(link)
            await target.claim(claim_of(offered / "there"))
            assert await target.look([str(offered / "there/f")]) == [None]
            for name in ("run42", "run42/f", "run42/deep/f"):
                with pytest.raises(TargetBusy, match=f"of me is writing to {inside}"):
                    await target.look([str(offered / "there/f"), str(offered / "there" / name)])
        with pytest.raises(TargetBusy, match="unfinished transfer of me has left files in"):
            await target.look([str(inside / "f")])

    asked(offered, ask)


def test_a_target_with_another_one_in_it_is_refused_with_the_path_of_that(offered: Path) -> None:
    async def ask(link: AgentLink) -> None:
        await claimed_by(link, offered / "there/new", secrets.token_hex(32))
        async with linked(FileRights([offered])) as other:
            for folder, why in (
                (offered / "there", f"{offered}/there/new, which is in {offered}/there:"),
                (offered / "there/new", f"{offered}/there/new:"),
                (offered / "there/new/x", f"there/new, which contains {offered}/there/new/x:"),
            ):
                with pytest.raises(TargetBusy, match=why):
                    await claimed_by(other, folder, secrets.token_hex(32))

    asked(offered, ask)


def joining(folder: Path, token: str, since_s: float) -> t.JoinTarget:
    return t.JoinTarget(target=str(folder), token=token, since_s=since_s)


def test_a_claim_is_joined_by_its_own_transfer_alone(
    offered: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither by another one, nor where the claim that is seen is that of an earlier run."""
    monkeypatch.setattr(claims, "_SEEN_S", 0.0)
    token, there = secrets.token_hex(32), offered / "there"

    async def ask(link: AgentLink) -> None:
        claimed = await claimed_by(link, there, token)
        async with linked(FileRights([offered])) as other:
            for wrong in (
                joining(there, secrets.token_hex(32), claimed.since_s),
                joining(there, token, claimed.since_s - 1),
                joining(offered / "elsewhere", token, claimed.since_s),
            ):
                with pytest.raises(Refusal, match="is not on the file system"):
                    await RemoteTarget(other).join(wrong)
            outside = joining(offered.parent / "outside", token, claimed.since_s)
            with pytest.raises(Refusal, match="--files"):
                await RemoteTarget(other).join(outside)
            joined = await RemoteTarget(other).join(joining(there, token, claimed.since_s))
            assert joined.key == claimed.key

    asked(offered, ask)


def test_who_has_joined_reads_and_changes_nothing(offered: Path) -> None:
    token, there = secrets.token_hex(32), offered / "there"
    (there / "file").write_text("content")

    async def ask(link: AgentLink) -> None:
        claimed = await claimed_by(link, there, token)
        paths = [str(there / "file")]
        async with linked(FileRights([offered])) as other:
            target = RemoteTarget(other)
            await target.join(joining(there, token, claimed.since_s))
            for change in (
                target.remove(paths),
                target.make_folders([str(there / "new")]),
                target.set_attributes([(paths[0], 0o777, 0)]),
                target.release(done=True),
                target.sign(Algorithm.BLAKE3, [], MANIFEST, "tool"),
            ):
                with pytest.raises(Refusal, match="another host holds the claim"):
                    await change
            [digest] = await target.digests(Algorithm.BLAKE3, [(paths[0], 0, 7)])
        # What it has read is known to the agent that signs, which has the same key.
        piece = t.SealedPiece(paths[0], 0, 7, digest.digest, digest.seal)
        signed = await RemoteTarget(link).sign(Algorithm.BLAKE3, [piece], MANIFEST, "tool")
        assert msgspec.json.decode(signed.statement, type=Statement).pieces == 1
        # The claim is still there.
        async with linked(FileRights([offered])) as third:
            with pytest.raises(TargetBusy):
                await claimed_by(third, there, secrets.token_hex(32))

    asked(offered, ask)
