"""Object stores: where the paths at the destination are in them, and the size of parts."""

import posixpath
from typing import Final

import msgspec

from advisor.domain.space import Parameter, Scale

_LEAST_PART_BYTES: Final = 5 * 2**20

PART_SIZE: Final = Parameter(
    name="chunk_bytes",
    unit="B",
    lower=_LEAST_PART_BYTES,
    upper=16 * _LEAST_PART_BYTES,
    scale=Scale.LOG2,
    quantum=_LEAST_PART_BYTES,
)
"""The size of the parts of an object, of which several are sent at a time; S3 takes none below."""


class StoreFolder(msgspec.Struct, frozen=True, kw_only=True):
    """`place`, as in BUCKET/PREFIX, is the folder `root` at the destination.

    `place` is "" where the folders below `root` are the buckets.
    """

    place: str
    root: str

    def key(self, path: str) -> str:
        """BUCKET/KEY of a path at the destination. Raises ValueError for one outside."""
        below = posixpath.relpath(path, self.root)
        if below == ".." or below.startswith("../"):
            raise ValueError(f"{path} is not below {self.root}, which the store serves")
        return posixpath.normpath(posixpath.join(self.place, below))


def store_folder(place: str, path: str) -> StoreFolder:
    """The folder of a store in which `place` is that path at the destination.

    What both have in common at their ends is left out, so that its root is as far up as is known.
    """
    there, here = place.strip("/").split("/"), path.rstrip("/").split("/")
    while there and len(here) > 1 and there[-1] == here[-1]:
        there.pop()
        here.pop()
    return StoreFolder(place="/".join(there), root="/".join(here) or "/")
