"""Text from outside (a peer, a file system, a file, a program) made safe to show.

Two rules. What is decoded has one of the types below, which bound its length and refuse what cannot
be shown. What is free text is passed through `printable` or `printable_lines`: control characters,
bidirectional overrides and other invisible characters become escapes such as `\\x1b` or `\\u202e`.
"""

import json
from collections.abc import Iterable
from typing import Annotated, Final

import msgspec

_SURROGATES: Final = range(0xD800, 0xE000)
_RAW_BYTES: Final = range(0xDC80, 0xDD00)  # As Python has the bytes of a name that is not UTF-8.
_KEPT: Final = "\n\t"

# What str.isprintable refuses, as far as a pattern can say it: control characters, line and
# paragraph separators, surrogates, and the format characters, among them all that reorder text.
_HIDDEN: Final = (
    r"\x00-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e"
    r"\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)

HostName = Annotated[
    str, msgspec.Meta(max_length=255, pattern=r"^([A-Za-z0-9_][A-Za-z0-9_.-]*)?\Z")
]
"""What a host calls itself; may be empty."""

InterfaceName = Annotated[
    str, msgspec.Meta(min_length=1, max_length=15, pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.@+~:-]*\Z")
]
"""A network interface. Linux allows more than this; none that is in use needs it."""

SystemName = Annotated[str, msgspec.Meta(max_length=256, pattern=r"^[A-Za-z0-9_.@+~:#/()-]*\Z")]
"""A kernel release, a congestion control, a queueing discipline: one word."""

SHOWN: Final = rf"^[^{_HIDDEN}]*\Z"
"""The pattern of a text on one line that can be shown as it is."""

MOST_SHOWN: Final = 256

ShownText = Annotated[str, msgspec.Meta(max_length=MOST_SHOWN, pattern=SHOWN)]
"""A short text on one line, such as a version."""


def is_printable(text: str) -> bool:
    """Whether every character of a text on one line can be seen; spaces of any width count."""
    return text.isprintable() or all(one.isprintable() or _is_space(one) for one in text)


def printable(text: str) -> str:
    """The text on one line, with escapes for control characters and what is not UTF-8.

    >>> printable("a\\x1b]0;b")
    'a\\\\x1b]0;b'
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else _escape(one) for one in text)


def printable_lines(text: str) -> str:
    """The same for a text of several lines: keeps newlines, tabs, and spaces of any width."""
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() or one in _KEPT or _is_space(one) else _escape(one) for one in text
    )


def json_text(data: bytes) -> str:
    """JSON as text that says the same, with JSON's own escapes for characters that are not seen."""
    text = data.decode()
    if text.isprintable():
        return text
    # Outside of its strings JSON has none of them but newlines.
    return "".join(
        one if one.isprintable() or one in _KEPT or _is_space(one) else json.dumps(one)[1:-1]
        for one in text
    )


def shortened(text: str, most: int) -> str:
    """The text on one line as from `printable`, cut to `most` characters, the last then `…`."""
    # Escaping makes it longer, never shorter: more than this is not looked at.
    shown = printable(text[: most + 1])
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def fitting(text: str, kind: object) -> str | None:
    """The text if it is of one of the types above, else None."""
    try:
        fits: str = msgspec.convert(text, kind)
    except (msgspec.ValidationError, UnicodeEncodeError):
        return None
    return fits


def escape_fields(struct: msgspec.Struct, names: Iterable[str]) -> None:
    """Make sentences of a new struct printable; call it in `__post_init__`, which decoding runs."""
    for name in names:
        text = getattr(struct, name)
        if text and not text.isprintable():
            msgspec.structs.force_setattr(struct, name, printable(text))


def _is_space(character: str) -> bool:
    """Whether it is a space that is no control character, such as U+00A0."""
    return character.isspace() and character >= "\xa0" and character not in "\u2028\u2029"


def _escape(character: str) -> str:
    number = ord(character)
    if number in _RAW_BYTES:
        return f"\\x{number - 0xDC00:02x}"
    if number in _SURROGATES:
        return f"\\u{number:04x}"
    return ascii(character)[1:-1]
