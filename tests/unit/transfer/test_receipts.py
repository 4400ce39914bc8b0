"""A receipt that was changed, or whose pieces do not prove its files, is refused."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec
import pytest

from advisor.agent.signing import AgentKey
from advisor.domain.manifest import Entry, EntryKind, Exclusion, Manifest
from advisor.domain.proof import Algorithm, ProvenPiece, Receipt, Statement, piece_line
from advisor.transfer.receipts import BadReceipt, read_receipt

TARGET: Final = "/there"
KEY: Final = AgentKey(b"k" * 32)


def a_file(name: str, mode: int = 0o644) -> Entry:
    return Entry(
        name=name, kind=EntryKind.FILE, mode=mode, mtime_ns=1, ctime_ns=1, inode=1, size_bytes=8
    )


ENTRIES: Final = (a_file("a"), a_file("b"))
HALF: Final = [ProvenPiece(0, 4, "a" * 64)]
WHOLE: Final = [*HALF, ProvenPiece(4, 4, "b" * 64)]
FILES: Final = {"a": WHOLE, "b": WHOLE}


def receipt(files: dict[str, list[ProvenPiece]] = FILES) -> Receipt:
    """What an agent signs for these pieces, whether or not they are all."""
    digest = hashlib.sha256()
    for name in sorted(files):
        for one in files[name]:
            path = f"{TARGET}/{name}"
            digest.update(piece_line(path, one.offset_bytes, one.size_bytes, one.digest))
    statement = msgspec.json.encode(
        Statement(
            host="dtn2",
            target=TARGET,
            algorithm=Algorithm.BLAKE3,
            pieces=sum(map(len, files.values())),
            pieces_digest=digest.hexdigest(),
            manifest_digest=Manifest(source="/here", entries=ENTRIES).digest,
            tool="tool",
            made_s=1.0,
        )
    )
    return Receipt(
        statement=statement.decode(),
        signature=KEY.sign(statement),
        public_key=KEY.public,
        destination="dtn2",
        source="/here",
        entries=ENTRIES,
        exclusions=(),
        files=files,
    )


def changed(**fields: object) -> Receipt:
    return msgspec.structs.replace(receipt(), **fields)


def read(folder: Path, one: Receipt) -> Receipt:
    file = folder / "receipt.json"
    file.write_bytes(msgspec.json.encode(one))
    return read_receipt(file)[0]


def test_what_the_agent_signed_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, receipt()) == receipt()


OTHER_SIGNATURE: Final = KEY.sign(b"something else")
CHANGES: Final[dict[str, Callable[[], Receipt]]] = {
    "no signature": lambda: changed(signature="0" * 128),
    "the signature of something else": lambda: changed(signature=OTHER_SIGNATURE),
    "another key": lambda: changed(public_key=AgentKey(b"x" * 32).public),
    "another statement": lambda: changed(statement=receipt().statement.replace('"dtn2"', '"dtn3"')),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_the_key_has_not_signed_is_refused(tmp_path: Path, change: str) -> None:
    with pytest.raises(BadReceipt, match="the signature is not that of the agent's key"):
        read(tmp_path, CHANGES[change]())


UNPROVEN: Final[dict[str, Callable[[], Receipt]]] = {
    "the digest of a piece": lambda: changed(
        files={"a": WHOLE, "b": [HALF[0], ProvenPiece(4, 4, "c" * 64)]}
    ),
    "one piece more": lambda: changed(files={"a": WHOLE, "b": [*WHOLE, WHOLE[1]]}),
    "an entry": lambda: changed(entries=(a_file("a"), a_file("b", mode=0o777))),
    "an exclusion": lambda: changed(exclusions=(Exclusion(name="x", reason="y"),)),
    "a file that is proven in part": lambda: receipt({"a": WHOLE, "b": HALF}),
    "a file with a gap": lambda: receipt({"a": WHOLE, "b": [HALF[0], ProvenPiece(6, 2, "b" * 64)]}),
    "a file without pieces": lambda: receipt({"a": WHOLE}),
    "pieces of no entry": lambda: receipt({**FILES, "c": WHOLE}),
    "more than the file has": lambda: receipt({"a": WHOLE, "b": [ProvenPiece(0, 9, "a" * 64)]}),
}


@pytest.mark.parametrize("change", UNPROVEN)
def test_what_does_not_prove_the_files_is_refused(tmp_path: Path, change: str) -> None:
    with pytest.raises(BadReceipt, match="is not what the agent signed"):
        read(tmp_path, UNPROVEN[change]())


@pytest.mark.parametrize("count", [0, 3, 5])
def test_the_number_of_pieces_is_signed_too(tmp_path: Path, count: int) -> None:
    statement = receipt().statement.replace('"pieces":4', f'"pieces":{count}')
    assert statement != receipt().statement
    with pytest.raises(BadReceipt, match="is not what the agent signed"):
        read(tmp_path, changed(statement=statement, signature=KEY.sign(statement.encode())))
