"""The legend of a chart in one line. Pure."""

import math
from collections.abc import Collection, Sequence
from typing import Final

from textual.content import Content

from advisor.tui.kit.charts.series import VERTICAL, Series, VerticalLine

_LINE: Final = "──"


def legend(
    series: Sequence[Series], verticals: Sequence[VerticalLine], colours: Collection[str]
) -> Content:
    """Series and vertical lines with their marks, in those `colours` the theme knows."""
    marked = [
        (one.mark or _LINE, one.colour, one.in_legend)
        for one in series
        if one.in_legend and any(math.isfinite(y) for y in one.ys)
    ]
    marked += [(VERTICAL, line.colour, line.name) for line in verticals if line.name]
    parts = [
        Content.assemble((mark, f"${colour}" if colour in colours else ""), f" {name}")
        for mark, colour, name in marked
    ]
    return Content("  ").join(parts)
