"""Shades of a heat map."""

from collections.abc import Mapping

from rich.style import Style
from textual.color import Color


def shade(variables: Mapping[str, str], share: float) -> Style:
    """From the surface of a theme, for a share of 0, to its green for 1.

    `variables`: of the theme. ANSI colours cannot be blended.
    """
    surface, green = (Color.parse(variables[word]) for word in ("surface", "advised"))
    if surface.ansi is not None or green.ansi is not None:
        return Style(reverse=share > 0.5)
    back = surface.blend(green, 0.15 + 0.85 * share**2)
    return Style(color=back.get_contrast_text(1.0).rich_color, bgcolor=back.rich_color)
