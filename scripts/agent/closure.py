"""Which Python modules the agent needs: those that its entry points import, and all that these do.

Imports inside functions count too. What is found neither in the given folders nor among the
extensions is left out: the interpreter has it, or it is optional to whoever imports it.
"""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple


class Module(NamedTuple):
    """A module's name, its source, and whether it is a package."""

    name: str
    path: Path
    is_package: bool


def closure(
    roots: Iterable[str], folders: list[Path], without: frozenset[str]
) -> dict[str, Module]:
    """The modules by name. `without`: modules that are left out, with all below them."""
    found: dict[str, Module] = {}
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name in found or name in without or name.partition(".")[0] in without:
            continue
        # Also of an extension, which has no source.
        above = name.rpartition(".")[0]
        waiting += [above] if above else []
        if module := _module(name, folders):
            found[name] = module
            waiting += _imports(module)
    return found


def _module(name: str, folders: list[Path]) -> Module | None:
    for folder in folders:
        path = folder.joinpath(*name.split("."))
        if (init := path / "__init__.py").is_file():
            return Module(name, init, True)
        if (plain := path.with_name(f"{path.name}.py")).is_file():
            return Module(name, plain, False)
    return None


def _imports(module: Module) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.path.read_bytes())):
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                node.body = []  # ast.walk has not come to them yet.
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=named, names=names, level=level):
                base = _base(module, level) if level else ""
                whole = ".".join(part for part in (base, named) if part)
                yield whole
                yield from (f"{whole}.{alias.name}" for alias in names)


def _base(module: Module, level: int) -> str:
    parts = module.name.split(".")
    if not module.is_package:
        parts.pop()
    return ".".join(parts[: len(parts) - level + 1])
