"""The files to move."""

import msgspec


class Dataset(msgspec.Struct, frozen=True, kw_only=True):
    """How much there is to move.

    `total_bytes` is at least 1. `path`, `files` and `largest` are known when a directory or file
    was named; `largest` is the path of the biggest file relative to `path`, "" when `path` is
    a file.
    """

    total_bytes: int
    path: str | None = None
    files: int | None = None
    largest: str | None = None
    largest_bytes: int | None = None
