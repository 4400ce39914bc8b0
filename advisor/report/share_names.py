"""Short names of destinations."""

import re
from collections.abc import Iterable
from typing import Final

_OF_A_LAB: Final = re.compile(r"(lab:[^:]+):([^:]+)")


def shown(names: Iterable[str]) -> dict[str, str]:
    """By destination: hosts of one lab by their own names, others unchanged."""
    known = list(names)
    matches = [_OF_A_LAB.fullmatch(name) for name in known]
    if len({match and match[1] for match in matches}) != 1:
        return {name: name for name in known}
    return {name: match[2] if match else name for name, match in zip(known, matches, strict=True)}
