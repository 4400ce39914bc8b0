"""Copying over ssh by the escape sequence OSC 52, also through tmux and screen.

No terminal confirms it, so it is unknown whether a copy arrived.
"""

import base64
import os
from collections.abc import Mapping
from typing import Final

from textual.app import App

from advisor.domain.printable import printable_lines

LONGEST_BYTES: Final = 74_000
"""Some terminals truncate or discard more: they take 100,000 bytes of base64."""

# screen discards longer strings: 768 bytes today, 256 in versions still in use.
_SCREEN_PART: Final = 240
_ESC: Final = "\x1b"


def sequences(text: str, environment: Mapping[str, str]) -> str:
    """The escape sequences to write to the terminal. Raises ValueError for a text too long for it.

    Inside tmux it is sent twice: plain, which tmux obeys with `set-clipboard on`, and wrapped for
    the outer terminal, which gets it with `allow-passthrough on`.
    """
    encoded = text.encode(errors="surrogateescape")
    if len(encoded) > LONGEST_BYTES:
        raise ValueError("too long for a terminal's clipboard: save it instead")
    data = base64.b64encode(encoded).decode()
    plain = f"{_ESC}]52;c;{data}\a"
    if environment.get("TMUX"):
        doubled = plain.replace(_ESC, _ESC * 2)
        return f"{plain}{_ESC}Ptmux;{doubled}{_ESC}\\"
    if environment.get("STY"):
        parts = (plain[i : i + _SCREEN_PART] for i in range(0, len(plain), _SCREEN_PART))
        return "".join(f"{_ESC}P{part}{_ESC}\\" for part in parts)
    return plain


def copy(app: App[int], text: str) -> str:
    """Copy a text; returns a sentence that says so, and what to do if it did not arrive.

    Raises ValueError for a text that is too long, or with characters that cannot be seen.
    """
    if printable_lines(text) != text:
        raise ValueError("it contains control characters: save it instead")
    escapes = sequences(text, os.environ)
    # As Textual's own copying does, which ignores multiplexers: the text for pasting here, and
    # the driver, which keeps the order of output. Neither is public.
    app._clipboard = text
    if app._driver is not None:
        app._driver.write(escapes)
    return f"Copied {len(text)} characters; if it does not arrive: {_remedy(os.environ)}"


def copied_message(app: App[int], text: str) -> str:
    """Copy a text; returns a sentence for the user in any case."""
    try:
        return copy(app, text)
    except ValueError as error:
        return f"Not copied: {error}"


def _remedy(environment: Mapping[str, str]) -> str:
    if environment.get("TMUX"):
        return "tmux set -g set-clipboard on"
    if environment.get("STY"):
        return "use tmux in place of screen, or save it"
    return "allow the terminal to set its clipboard (OSC 52), or save it"
