"""Errors of the store, as sentences that say what the user can do."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from advisor.domain.problem import ProblemError, ProblemKind

_FULL: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_CLOSED: Final = {errno.EACCES, errno.EPERM, errno.EROFS}
ELSEWHERE: Final = "name another place with --store"


class StoreError(ProblemError):
    """The store cannot be read or written. The message is one sentence with path and remedy."""


class StoreFull(StoreError):
    """There is no space for a new record. Existing records are not affected."""

    kind = ProblemKind.NO_SPACE


def _explained(error: OSError, path: Path, doing: str, elsewhere: str) -> StoreError:
    reason = (error.strerror or str(error)).lower()
    if error.errno in _FULL:
        return StoreFull(
            f"cannot {doing} {path}: {reason}",
            remedy=f"free some space or {elsewhere}",
        )
    if error.errno in _CLOSED:
        return StoreError(
            f"cannot {doing} {path}: {reason}",
            kind=ProblemKind.NO_ACCESS,
            remedy=f"give access to it or {elsewhere}",
        )
    fixable = "" if error.errno == errno.ENOLCK else "fix that or "
    return StoreError(f"cannot {doing} {path}: {reason}", remedy=f"{fixable}{elsewhere}")


@contextmanager
def explaining(path: Path, doing: str, elsewhere: str = ELSEWHERE) -> Iterator[None]:
    """Turn any OSError of the block into a StoreError about `doing` (read, write) `path`.

    `elsewhere`: how the user has it done in another place.
    """
    try:
        yield
    except OSError as error:
        raise _explained(error, path, doing, elsewhere) from error
