"""Screens for terminals that have ASCII alone: every drawn line, whatever drew it."""

from typing import Final

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_BRAILLE: Final = range(0x2801, 0x2900)
_ASCII: Final = str.maketrans(
    dict.fromkeys("┌┐└┘├┤┬┴┼┏┓┗┛┣┫┳┻╋╭╮╰╯", "+")
    | dict.fromkeys("│┃╷╵╎┊▏▎▍▌▋▊▉❚", "|")
    | dict.fromkeys("─━╶╴╌┄−–—", "-")
    | dict.fromkeys("▁", "_")
    | dict.fromkeys("▄═", "=")
    | dict.fromkeys("▇█▀", "#")
    | dict.fromkeys("★•", "*")
    | dict.fromkeys("▂·░…", ".")
    | dict.fromkeys("▒▓", ":")
    | dict.fromkeys("→▸▶»›", ">")
    | dict.fromkeys("←◀", "<")
    | {"▃": "-", "▅": "+", "▆": "*", "↑": "^", "↓": "v", "✓": "+", "✔": "+", "✗": "x", "×": "x"}
    | {"▲": "A", "△": "a", "▼": "V", "▽": "v", "☆": "s", "■": "H", "□": "h", "◆": "D", "◇": "d"}
    | {
        "▷": "}",
        "●": "O",
        "○": "o",
        "±": "~",
        "≤": "<",
        "≥": ">",
        "÷": "/",
        "µ": "u",
        "μ": "u",
        "▾": "v",
        "␣": "_",
    }
)


class AsciiLines(LineFilter):
    """Puts an ASCII character in the place of each other sign; letters of names stay."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The segments of a line in ASCII."""
        return [
            segment if segment.text.isascii() else segment._replace(text=in_ascii(segment.text))
            for segment in segments
        ]


def in_ascii(text: str) -> str:
    """`text` in as many columns, with dots of braille as stars."""
    drawn = text.translate(_ASCII)
    return "".join("*" if ord(character) in _BRAILLE else character for character in drawn)
