"""Finds the stored pair or session that a user names."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from advisor.cli.errors import CommandFailed, UsageError
from advisor.cli.parameters import parsed
from advisor.domain.endpoints import Pair
from advisor.store.errors import StoreError
from advisor.store.history import SessionDigest, Store

_MOST_CHOICES: Final = 5


@contextmanager
def store_errors() -> Iterator[None]:
    """An error of the store ends the command with its sentence and exit code 1."""
    try:
        yield
    except StoreError as error:
        raise CommandFailed.about("", error) from error


_pair = parsed(Pair.parse)


def resolve_pair(store: Store, text: str) -> Pair:
    """The stored pair that the text names. Raises UsageError if it matches several."""
    if "->" in text:
        wanted: Pair = _pair(text)
        matching = [wanted] if store.records(wanted) else []
    else:
        # Not only those with sessions: what was measured for sharing is of none.
        matching = [pair for pair in store.stored_pairs() if pair.destination == text]
    if not matching:
        raise CommandFailed(
            f"nothing is stored for '{text}'",
            remedy="`advisor history` lists the pairs",
            command="advisor history",
        )
    if len(matching) > 1:
        choices = ", ".join(f"'{pair}'" for pair in matching)
        raise UsageError(f"PAIR: '{text}' is ambiguous", remedy=f"write one of {choices}")
    return matching[0]


def resolve_session(store: Store, text: str) -> SessionDigest:
    """The stored session with this name or beginning of a name; deleted ones too.

    Raises UsageError when it is ambiguous, CommandFailed when there is none.
    """
    known = store.sessions(include_deleted=True)
    found = [s for s in known if s.session == text] or [
        s for s in known if text and s.session.startswith(text)
    ]
    if not found:
        raise CommandFailed(
            f"no session begins with '{text}'",
            remedy="`advisor history sessions` lists them",
            command="advisor history sessions",
        )
    if len(found) > 1:
        choices = ", ".join(s.session for s in found[:_MOST_CHOICES])
        more = ", …" if len(found) > _MOST_CHOICES else ""
        raise UsageError(
            f"SESSION: {len(found)} begin with '{text}'",
            remedy=f"write more of one of {choices}{more}",
        )
    return found[0]
