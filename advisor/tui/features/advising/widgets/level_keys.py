"""The keys that choose the level a surface is drawn along; each can be clicked too."""

from collections.abc import Collection

from textual.content import Content
from textual.style import Style

from advisor.domain.evidence import Level
from advisor.tui.features.advising.widgets.slice_chart import LEVELS
from advisor.tui.kit.static import Static


class LevelKeys(Static):
    """`show` which levels are drawn: bold and underlined."""

    DEFAULT_CSS = """
    LevelKeys {
        height: 1; link-style: none; link-color: $foreground; link-style-hover: reverse;
    }
    """

    def show(self, drawn: Collection[Level]) -> None:
        """`drawn`: the levels whose charts are shown now."""
        self.update(
            Content("   ").join(
                _key(number, level, is_drawn=level in drawn)
                for number, level in enumerate(LEVELS, 1)
            )
        )


def _key(number: int, level: Level, *, is_drawn: bool) -> Content:
    words = Content.assemble(
        (str(number), "bold $focus"), " ", (level, "bold underline" if is_drawn else "")
    )
    return words.stylize(Style.from_meta({"@click": f"screen.{level}"}))
