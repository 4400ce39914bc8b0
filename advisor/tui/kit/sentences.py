"""Words, messages and names as the screens show them."""


def capitalised(text: str) -> str:
    """It with a capital."""
    return text[:1].upper() + text[1:]


def sentence(message: str) -> str:
    """It with a capital and one full stop."""
    return f"{capitalised(message).rstrip('.')}."


def count_words(number: int, noun: str) -> str:
    """`1 file`, `8 files`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def times_words(factor: float) -> str:
    """`32×`, `1.5×`: two significant figures."""
    return f"{factor:.2g}×" if factor < 10 else f"{factor:.0f}×"


def shortened(text: str, width: int) -> str:
    """It with an ellipsis where it is longer than this."""
    return text if len(text) <= width else f"{text[: width - 1]}…"
