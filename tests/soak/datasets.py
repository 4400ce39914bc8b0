"""Made-up folders of files: tiny, empty, deep, oddly named, and large enough to come in ranges."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Final, TypeAlias

Files: TypeAlias = Iterator[tuple[str, int]]
"""Names and sizes in bytes."""

_MB: Final = 1_000_000
_ODD: Final = " %#?*[]\\&;'+=,~!@$(){}|<>"
"""All that arrives under its own name but is something else to a shell or in an URL."""


def make(folder: Path, kind: str, rng: Random) -> Path:
    """What to move, of one of `KINDS`: the folder, or the one file in it. Random bytes."""
    folder.mkdir(parents=True)
    for name, size in KINDS[kind](rng):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(rng.randbytes(size))
    return folder / ONE_NAME if kind == ONE else folder


def files_of(source: Path) -> dict[str, int]:
    """Sizes in bytes by name relative to it, "" for a file's own, as `advisor` has them."""
    if source.is_file():
        return {"": source.stat().st_size}
    found = (path for path in source.rglob("*") if path.is_file())
    return {str(path.relative_to(source)): path.stat().st_size for path in found}


def _tiny(rng: Random) -> Files:
    for number in range(rng.randint(300, 700)):
        yield f"{number % 7}/{number:05d}.dat", rng.randint(1, 40_000)


def _empty(rng: Random) -> Files:
    for number in range(rng.randint(150, 300)):
        yield f"{number % 3}/{number}.flag", rng.choice((0, 0, 0, 1, 2))
    yield "not empty", rng.randint(20, 40) * _MB


def _nested(rng: Random) -> Files:
    for number in range(rng.randint(100, 250)):
        depth = rng.randint(0, 9)
        folders = [f"level {level} {rng.randint(0, 1)}" for level in range(depth)]
        yield "/".join((*folders, f"{number}.dat")), round(rng.lognormvariate(11, 1.5))


def _odd(rng: Random) -> Files:
    for number in range(rng.randint(100, 250)):
        word = "".join(rng.choices(_ODD + "ab", k=rng.randint(1, 12)))
        size = rng.choice((0, rng.randint(1, 9000), rng.randint(1, 400_000)))
        yield f" {word} /{number}{word}", size
    yield "-p 4 large one", rng.randint(15, 30) * _MB


def _large(rng: Random) -> Files:
    for number in range(rng.randint(1, 3)):
        # Not of whole blocks: the last range of each is of any length.
        yield f"{number}.large", rng.randint(20 * _MB, 40 * _MB)


def _one(rng: Random) -> Files:
    yield ONE_NAME, rng.randint(40 * _MB, 120 * _MB)


def _mixed(rng: Random) -> Files:
    for of in (_tiny, _empty, _nested, _odd, _large):
        yield from ((f"{of.__name__[1:]}/{name}", size) for name, size in of(rng))


ONE: Final = "one file"
ONE_NAME: Final = "the only one.dat"
KINDS: Final[dict[str, Callable[[Random], Files]]] = {
    "mixed": _mixed,
    "tiny": _tiny,
    "large": _large,
    "nested": _nested,
    "odd names": _odd,
    "empty": _empty,
    ONE: _one,
}
