"""Colours of the theme, for what is drawn by hand."""

from collections.abc import Mapping

from rich.style import Style
from textual.color import Color, ColorParseError


def theme_style(variables: Mapping[str, str], colour: str) -> str:
    """The style of a theme's colour name; its foreground for an unknown name."""
    for word in (colour, "foreground"):
        try:
            parsed = Color.parse(variables[word])
            if parsed.a < 1:
                parsed = Color.parse(variables["background"]) + parsed
            return str(Style(color=parsed.rich_color))
        except (KeyError, ColorParseError):
            continue
    return ""
