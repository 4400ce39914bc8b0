"""Parsing of lists of names as users write them."""

import re


def parse_names(text: str) -> list[str]:
    """`cubic,bbr`: the distinct names in this order. Raises ValueError."""
    names = [name.strip() for name in text.split(",")]
    if not all(re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", name) for name in names):
        raise ValueError("write names separated by commas, as in cubic,bbr")
    return list(dict.fromkeys(names))
