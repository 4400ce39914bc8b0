"""Whether all of a history was read, where a part would be taken for the whole."""

from collections.abc import Iterator
from contextlib import contextmanager

from advisor.domain.problem import ProblemKind
from advisor.store.backend import Backend
from advisor.store.errors import StoreError


@contextmanager
def in_full(history: Backend, what: str) -> Iterator[None]:
    """Raises StoreError after the block if the history did not answer all that was asked in it.

    `what` was made of the answers, as in `the copy`.
    """
    before = history.missed
    yield
    if history.missed > before:
        raise StoreError(
            f"{what} may be incomplete: {history.argument} was not always reached, and only what "
            "is known of it on this host was read",
            kind=ProblemKind.UNREACHABLE,
            remedy="repeat it when the history answers",
        )
