"""The roles of colours: what a colour means on every screen, in dark, light and ANSI themes.

A role is a variable of the theme: `$advised` in a style sheet, "advised" where a chart names a
colour. No colour stands alone: a mark or a word beside it says the same.
"""

from collections.abc import Mapping
from functools import cache
from typing import Final

from textual.color import Color
from textual.theme import Theme

_LEAST_CONTRAST: Final = 4.5
"""Of text and its background: level AA of the Web Content Accessibility Guidelines."""

_LIGHTER: Final = 0.04

_DARK: Final = {
    "advised": "#6ee787",
    "default": "#a3adb8",
    "act": "#f2cc60",
    "failed": "#ff8a84",
    "blue": "#79b8ff",
    "orange": "#ffa35c",
    "violet": "#d2a8ff",
    "focus": "#5cd6e0",
    "line": "#5b6570",
}
_LIGHT: Final = {
    "advised": "#0b5f2a",
    "default": "#4c545d",
    "act": "#6b4a00",
    "failed": "#a01313",
    "blue": "#0a4a94",
    "orange": "#8a3800",
    "violet": "#5a2ca0",
    "focus": "#00626d",
    "line": "#9aa3ad",
}
_ANSI: Final = {
    "advised": "ansi_green",
    "default": "ansi_bright_black",
    "act": "ansi_yellow",
    "failed": "ansi_red",
    "blue": "ansi_blue",
    "orange": "ansi_bright_yellow",
    "violet": "ansi_magenta",
    "focus": "ansi_cyan",
    "line": "ansi_bright_black",
}


def role_colours(theme: Theme) -> Mapping[str, str]:
    """The colour of each role in this theme.

    `advised`: what the advice is; `default`: what is compared with it; `act`: the user has
    something to do; `failed`: it did not work; `blue`, `orange`, `violet`: what a transport chooses
    by its traits; `line`: frames; `focus`: the frame of what has the focus.
    """
    if theme.background == "ansi_default":
        return _ANSI
    variables = theme.to_color_system().generate()
    backgrounds = tuple(variables[name] for name in ("background", "surface"))
    roles = _DARK if theme.dark else _LIGHT
    return {
        role: colour if role == "line" else _legible(colour, backgrounds, lighter=theme.dark)
        for role, colour in roles.items()
    }


@cache
def _legible(colour: str, backgrounds: tuple[str, ...], *, lighter: bool) -> str:
    """The colour, or the nearest one that can be read on these."""
    found = Color.parse(colour)
    grounds = [Color.parse(one) for one in backgrounds]
    while min(contrast(found, ground) for ground in grounds) < _LEAST_CONTRAST:
        found = found.lighten(_LIGHTER) if lighter else found.darken(_LIGHTER)
    return found.hex


def contrast(one: Color, other: Color) -> float:
    """The contrast ratio of two colours, 1 to 21, as those guidelines define it."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: Color) -> float:
    parts = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in colour.normalized
    )
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))
