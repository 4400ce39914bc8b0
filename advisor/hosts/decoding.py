"""JSON that somebody else wrote: bounded in length and depth before anything is made of it.

Peers, journals, imports and the files of labs all come through here. Decoders and everything after
them are recursive; nothing that this program writes is nested nearly as deep as DEEPEST.
"""

import re
from typing import Final, TypeVar

import msgspec

from advisor.domain.problem import ProblemError, ProblemKind

DEEPEST: Final = 64
"""The most arrays and objects inside one another."""
LINE_LIMIT_BYTES: Final = 64 * 2**20
"""The longest line of a file of JSON lines."""

_T = TypeVar("_T")
_BRACKETS: Final = bytes.maketrans(b"[]{}", b"()()")
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))
_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)


class BadData(ProblemError, ValueError):
    """Data from outside cannot be used: it is damaged, of another form, too long or too deep."""

    kind = ProblemKind.INVALID


def decoded(decoder: msgspec.json.Decoder[_T], data: bytes, limit_bytes: int) -> _T:
    """The value of a JSON text. Raises BadData, and nothing else."""
    if len(data) > limit_bytes:
        raise BadData(f"it is longer than {limit_bytes} bytes")
    require_shallow(data)
    try:
        return decoder.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        # ValueError: text that is not UTF-8.
        raise BadData(str(error) or "it is nested too deep") from None


def require_shallow(data: bytes) -> None:
    """Raises BadData if arrays and objects are nested deeper than DEEPEST."""
    if data.count(b"[") + data.count(b"{") <= DEEPEST:
        return
    # Brackets in strings only make it look deeper: they are looked for when it matters.
    if _too_deep(data) and _too_deep(_STRING.sub(b"", data)):
        raise BadData(f"it is nested deeper than {DEEPEST}")


def _too_deep(data: bytes) -> bool:
    left = data.translate(_BRACKETS, _NO_BRACKETS)
    for _ in range(DEEPEST):
        before, left = len(left), left.replace(b"()", b"")
        if not left or len(left) == before:
            break
    return bool(left)
