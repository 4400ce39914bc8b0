"""The legend of a chart, below it, where it covers nothing. Pure."""

import math
from collections.abc import Callable, Iterable
from typing import Final

from rich.text import Text

from advisor.tui.kit.charts.drawing import ASCII, VERTICAL
from advisor.tui.kit.charts.picture import Picture

_LINE: Final = "──"


def legend(picture: Picture, style: Callable[[str], str], drawing: str) -> Text:
    """Series, levels and vertical lines with their marks; `style` is that of a theme's colour."""
    parts = [
        Text.assemble((series.mark or _LINE, style(series.colour)), f" {series.name}")
        for series in picture.series
        if series.name and any(math.isfinite(y) for y in series.ys)
    ]
    parts += _levels(picture, style)
    parts += [
        Text.assemble((VERTICAL, style(vertical.colour)), f" {vertical.name}")
        for vertical in picture.verticals
        if vertical.name
    ]
    parts.append(Text(f"→ {picture.x_label}"))
    line = Text("   ").join(parts)
    return Text(line.plain.translate(ASCII)) if drawing == "ascii" else line


def _levels(picture: Picture, style: Callable[[str], str]) -> Iterable[Text]:
    """Each with the number that marks it in the chart; an arrow for those above its top."""
    top = picture.y_top or 1.0
    number = 0
    for level in picture.levels:
        number += level.y <= top
        mark = f"╌{number}" if level.y <= top else "↑"
        above = "" if level.y <= top else ", above"
        words = f" {level.name} {picture.value_words(level.y)}{above}"
        yield Text.assemble((mark, style(level.colour)), words)
