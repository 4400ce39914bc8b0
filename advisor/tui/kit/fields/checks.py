"""Checks of what is typed into fields: each raises ValueError with a sentence."""

from collections.abc import Callable


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """A check for a field: it raises ValueError unless the text is a number in this range."""

    def check(text: str) -> int:
        if not (text.isascii() and text.isdigit()) or not least <= int(text) <= most:
            raise ValueError(f"write a number from {least} to {most}")
        return int(text)

    return check


def number_within(above: float, most: float) -> Callable[[str], float]:
    """A check for a field: it raises ValueError unless the text is a number in this range."""

    def check(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = above
        if not above < value <= most:
            raise ValueError(f"write a number above {above:g}, at most {most:g}")
        return value

    return check


def one_of(*words: str) -> Callable[[str], str]:
    """A check for a field: it raises ValueError unless the text is one of these words."""

    def check(text: str) -> str:
        if text not in words:
            raise ValueError(f"write {' or '.join(words)}")
        return text

    return check
