"""The characters that charts and maps are drawn with, for every terminal."""

from typing import Final

VERTICAL: Final = "╎"
"""The character of vertical lines."""

ASCII: Final = str.maketrans(
    dict.fromkeys("┌┐└┘├┤┬┴┼┏┓┗┛┣┫┳┻╋", "+")
    | dict.fromkeys("│┃╷╵╎", "|")
    | dict.fromkeys("─━╶╴╌−", "-")
    | dict.fromkeys("█★", "*")
    | dict.fromkeys("·░", ".")
    | {"▲": "A", "△": "a", "▼": "V", "▽": "v", "☆": "s", "■": "H", "□": "h", "◆": "D", "◇": "d"}
    | {"▶": "B", "▷": "b", "●": "O", "○": "o", "×": "x", "→": ">", "↑": "^"}
)
"""The same in ASCII, which every terminal has."""
