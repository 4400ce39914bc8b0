"""Who is told of a plugin that is left out. It imports nothing: every command begins with it."""

from collections.abc import Callable

_tellers: list[Callable[[str], None]] = []
_told: set[str] = set()


def tell_of_faults(teller: Callable[[str], None]) -> None:
    """From now on call `teller` with a sentence, once, for each plugin that is left out."""
    _tellers.append(teller)


def tell(fault: str) -> None:
    """A plugin is left out: `fault` names its file and what is wrong."""
    if fault not in _told:
        _told.add(fault)
        for teller in _tellers:
            teller(f"a plugin is left out: {fault}")
