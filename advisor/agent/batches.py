"""Paths divided over messages, each within the limits of the protocol."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

import msgspec

from advisor.agent import message_base as b
from advisor.agent import messages as m
from advisor.agent.peer_errors import Refusal

# Per message; a single pair of the longest paths in the longest encoding still fits.
_PATHS_BYTES: Final = m.MESSAGE_LIMIT_BYTES // 2

_T = TypeVar("_T")


def weight(*paths: str) -> int:
    """The length of paths in a message. Raises Refusal for paths that messages do not allow."""
    try:
        return len(msgspec.json.encode(msgspec.convert(paths, tuple[b.FilePath, ...])))
    except (msgspec.ValidationError, UnicodeEncodeError):
        raise Refusal(
            "paths at the destination must be absolute, UTF-8 and at most 4096 characters long: "
            f"{paths[-1][:200]!a} is not"
        ) from None


def in_messages(items: Sequence[_T], measure: Callable[[_T], int]) -> Iterator[list[_T]]:
    """The items divided into parts that each fit a message. Raises Refusal."""
    part: list[_T] = []
    size = 0
    for item in items:
        more = measure(item)
        if part and (size + more > _PATHS_BYTES or len(part) == b.PATHS_LIMIT):
            yield part
            part, size = [], 0
        part.append(item)
        size += more
    if part:
        yield part
