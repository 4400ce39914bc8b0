"""Errors of the store, as sentences that say what the user can do."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from advisor.domain.problem import ProblemError, ProblemKind

_FULL: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_CLOSED: Final = {errno.EACCES, errno.EPERM, errno.EROFS}


class StoreError(ProblemError):
    """The store cannot be read or written. The message is one sentence with path and remedy."""


class StoreFull(StoreError):
    """There is no space for a new record. Existing records are not affected."""

    kind = ProblemKind.NO_SPACE


def _explained(error: OSError, path: Path, doing: str) -> StoreError:
    reason = (error.strerror or str(error)).lower()
    if error.errno in _FULL:
        return StoreFull(
            f"cannot {doing} {path}: {reason}",
            remedy="free some space or name another place with --store",
        )
    if error.errno in _CLOSED:
        return StoreError(
            f"cannot {doing} {path}: {reason}",
            kind=ProblemKind.NO_ACCESS,
            remedy="give access to it or name another place with --store",
        )
    return StoreError(
        f"cannot {doing} {path}: {reason}", remedy="fix that or name another place with --store"
    )


@contextmanager
def explaining(path: Path, doing: str) -> Iterator[None]:
    """Turn any OSError of the block into a StoreError about `doing` (read, write) `path`."""
    try:
        yield
    except OSError as error:
        raise _explained(error, path, doing) from error
