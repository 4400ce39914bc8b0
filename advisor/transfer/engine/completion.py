"""Completes a transfer at its target: what tools do not move, attributes, and the receipt."""

import asyncio
import os
import posixpath
import time
from pathlib import Path
from typing import Final

import msgspec

from advisor.agent.client import AgentLink
from advisor.agent.target import RemoteTarget
from advisor.domain.manifest import Entry, EntryKind, Manifest
from advisor.domain.problem import ProblemError
from advisor.domain.proof import Receipt
from advisor.hosts import source_listing
from advisor.runtime.request import TransferRequest
from advisor.store.files import make_directory, replace_file
from advisor.store.layout import safe_name
from advisor.transfer.engine.delivery import Delivery
from advisor.transfer.engine.last_look import not_as_proven
from advisor.transfer.engine.options import DeliveryOptions
from advisor.transfer.engine.places import Places

_SHOWN: Final = 3
_PERMISSIONS: Final = 0o777
"""The bits that are preserved: not those that give a file the rights of its owner."""


class ReceiptNotWritten(ProblemError):
    """All is proven, but the receipt that was asked for could not be written: one sentence."""


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """How it ended. `changed`: names of entries that changed at the source since the start, `new`:
    of those that were not there then.

    `not_there`: why entries are not at the destination as they should be, by name.
    `not_represented`: what the destination could not keep of those that are, by path. `receipt`:
    the file with the receipt, None if nothing was proven, or if none was asked for and advisor's
    own could not be written: `receipt_trouble`. `claim_left`: the file there that marks an
    unfinished transfer, and why it could not be removed; "" if it was.
    """

    changed: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    not_there: dict[str, str] = {}
    not_represented: dict[str, str] = {}
    receipt: Path | None = None
    receipt_trouble: str = ""
    claim_left: str = ""

    @property
    def shown(self) -> list[tuple[str, str]]:
        """The first of what is not represented, to be named."""
        return list(self.not_represented.items())[:_SHOWN]


async def complete(
    delivery: Delivery,
    link: AgentLink,
    request: TransferRequest,
    options: DeliveryOptions,
    tool: str,
    places: Places,
) -> Completion:
    """Complete a transfer whose files have all arrived, and give up its claim.

    Where that fails, the claim stays that of a transfer to be resumed. Raises PeerError,
    ReceiptNotWritten, OSError where the source cannot be looked at.
    """
    manifest, target = delivery.manifest, RemoteTarget(link)
    changed, new = await asyncio.to_thread(_changes, manifest, request)
    if changed:
        await target.release(done=False)
        return Completion(changed=changed, new=new)
    not_made = await _make_entries(manifest, target, places)
    not_kept = await _set_attributes(manifest, target, places)
    # Last of all: a piece is proven when it has arrived, and others may change it afterwards.
    if not_there := await not_as_proven(delivery, link, places) | not_made:
        await target.release(done=False)
        return Completion(new=new, not_there=not_there)
    receipt = await _receipt(delivery, target, request, tool, not_kept)
    path, trouble = None, ""
    if receipt:
        path = options.receipt or options.receipts / _file_name(request, manifest)
        try:
            await asyncio.to_thread(_write, path, msgspec.json.encode(receipt) + b"\n")
        except ReceiptNotWritten as error:
            if options.receipt:
                raise
            path, trouble = None, str(error)
    return Completion(
        new=new,
        not_represented=not_kept,
        receipt=path,
        receipt_trouble=trouble,
        claim_left=await target.release(done=True),
    )


def _changes(
    manifest: Manifest, request: TransferRequest
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The entries that are not as they were listed, and those that were not listed."""
    now = source_listing.manifest_of(Path(manifest.source), request.rules)
    before, after = (dict(map(_version, one.entries)) for one in (manifest, now))
    changed = sorted(name for name, version in before.items() if after.get(name) != version)
    return tuple(changed), tuple(sorted(after.keys() - before.keys()))


def _version(entry: Entry) -> tuple[str, object]:
    """The name, and what must not change: of a folder that it is there, its time may."""
    return entry.name, entry.kind if entry.kind is EntryKind.FOLDER else entry


async def _make_entries(manifest: Manifest, target: RemoteTarget, places: Places) -> dict[str, str]:
    """Create folders and links; returns why some could not be created, by name."""
    folders, links = manifest.of_kind(EntryKind.FOLDER), manifest.of_kind(EntryKind.LINK)
    failed = await target.make_folders([places.target_of(one.name) for one in folders])
    failed |= await target.make_links(
        [(places.target_of(one.name), one.link_target) for one in links]
    )
    reasons = {one.name: failed.get(places.target_of(one.name)) for one in (*folders, *links)}
    return {name: f"it could not be created: {why}" for name, why in reasons.items() if why}


async def _set_attributes(
    manifest: Manifest, target: RemoteTarget, places: Places
) -> dict[str, str]:
    # Folders last, the deepest first: work in a folder changes its time, and may need its rights.
    entries = sorted(
        manifest.entries,
        key=lambda one: (one.kind is EntryKind.FOLDER, -one.name.count("/"), one.name == ""),
    )
    failed = await target.set_attributes(
        [(places.target_of(one.name), _mode(one), one.mtime_ns) for one in entries]
    )
    kept = {path: f"time or permissions are not kept: {why}" for path, why in failed.items()}
    for one in manifest.of_kind(EntryKind.FILE):
        if one.mode & ~_PERMISSIONS:
            kept.setdefault(
                places.target_of(one.name), "set-user-ID, set-group-ID and sticky bits are not kept"
            )
    return kept


def _mode(entry: Entry) -> int | None:
    return None if entry.kind is EntryKind.LINK else entry.mode & _PERMISSIONS


async def _receipt(
    delivery: Delivery,
    target: RemoteTarget,
    request: TransferRequest,
    tool: str,
    not_kept: dict[str, str],
) -> Receipt | None:
    """The signed receipt; None where only sizes were compared. Raises PeerError."""
    proofs, manifest = delivery.proofs, delivery.manifest
    files = manifest.of_kind(EntryKind.FILE)
    if proofs.algorithm is None or not all(proofs.proves(e.name, e.size_bytes) for e in files):
        return None
    signed = await target.sign(proofs.algorithm, proofs.sealed(), manifest.digest, tool)
    return Receipt(
        statement=signed.statement,
        signature=signed.signature,
        public_key=signed.public_key,
        destination=str(request.destination),
        source=manifest.source,
        entries=manifest.entries,
        exclusions=manifest.exclusions,
        files={one.name: proofs.of_file(one.name) for one in files},
        not_represented=not_kept,
    )


def _file_name(request: TransferRequest, manifest: Manifest) -> str:
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
    what = f"{posixpath.basename(manifest.source)} {request.destination_host}"
    return f"{stamp}-{os.getpid()}-{safe_name(what)}.json"


def _write(path: Path, content: bytes) -> None:
    try:
        make_directory(path.parent)
        replace_file(path, content)
    except OSError as error:
        raise ReceiptNotWritten(
            f"the receipt could not be written to {path} ({error.strerror or error})"
        ) from None
