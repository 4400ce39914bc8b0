"""Which bytes of a file its pieces prove."""

import pytest

from advisor.domain.proof import Algorithm, ProvenPiece, proven_bytes
from advisor.models.slicing import FileEntry, Part
from advisor.transfer.engine.places import Places
from advisor.transfer.engine.proof import Proofs

DIGEST = "ab" * 32


@pytest.mark.parametrize(
    ("pieces", "proven"),
    [
        ([], 0),
        ([(2, 6)], 0),
        ([(0, 4)], 4),
        ([(0, 4), (4, 4)], 8),
        ([(0, 6), (2, 2), (6, 2)], 8),
        ([(0, 2), (6, 2)], 2),
    ],
)
def test_bytes_behind_a_gap_are_not_proven(pieces: list[tuple[int, int]], proven: int) -> None:
    found = [ProvenPiece(offset, size, DIGEST) for offset, size in pieces]
    assert proven_bytes(found) == proven


def test_a_file_is_proven_by_all_of_its_parts() -> None:
    file = FileEntry("a", 8, 0)
    proofs = Proofs(Places(source="/a", target="/b", destination_host="c"), Algorithm.BLAKE3)
    assert not proofs.proves("a", 0)
    proofs.keep(Part(file, 0, 4), DIGEST, "")
    assert not proofs.proves("a", 4)
    proofs.keep(Part(file, 0, 4), DIGEST, DIGEST)
    assert proofs.proves("a", 4)
    assert not proofs.proves("a", 8)
    proofs.keep(Part(file, 6, 2), DIGEST, DIGEST)
    assert not proofs.proves("a", 8)
    proofs.keep(Part(file, 4, 2), DIGEST, DIGEST)
    assert proofs.proves("a", 8)
    proofs.forget(["a"])
    assert not proofs.proves("a", 0)
