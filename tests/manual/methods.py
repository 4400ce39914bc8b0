"""The reference of methods and models, from the docstrings of their modules."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.manual.markdown import page

_ROOT = Path(__file__).parents[2]
_PAPER = re.compile(r"\b(?:19|20)\d\d\b")
_ABOUT = (
    "After this page you know what each search method and each model computes: its paper, with "
    "section and equation, and where it deviates. It is what the source says of itself; "
    "[methods](../methods.md) is the overview.\n\n"
    "Sizes of steps and thresholds are those of the paper unless a line says otherwise."
)


def methods_page() -> str:
    """A section for each method, then for each module that follows a paper."""
    methods = [_section(path) for path in _methods()]
    models = [_section(path) for path in _models()]
    parts = ["## Search methods", *methods, "## Models and building blocks", *models]
    return page("Methods and models: equations and deviations", _ABOUT, parts)


def documented(path: Path) -> str:
    """The module's docstring; "" without one."""
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def _methods() -> Iterator[Path]:
    """The module of each bundled method."""
    folder = _ROOT / "plugins/methods"
    found = [*folder.glob("*.py"), *folder.glob("*/__init__.py")]
    yield from sorted((one for one in found if one != folder / "__init__.py"), key=_name)


def _models() -> Iterator[Path]:
    """Modules below methods and models whose docstring names a paper by its year."""
    for folder in ("advisor/methods", "advisor/models"):
        for path in sorted((_ROOT / folder).rglob("*.py")):
            if path.name != "__init__.py" and _PAPER.search(documented(path)):
                yield path


def _name(path: Path) -> str:
    return path.parent.name if path.name == "__init__.py" else path.stem


def _section(path: Path) -> str:
    within = path.relative_to(_ROOT)
    is_method = within.parts[0] == "plugins"
    heading = _name(path).replace("_", "-") if is_method else str(within)
    # Outside of code, what Markdown would take for markup is escaped.
    parts = re.split(r"(`[^`]+`)", documented(path))
    parts[::2] = [re.sub(r"([<*]|(?<=\w)_(?=\w))", r"\\\1", one) for one in parts[::2]]
    return "\n\n".join([f"### {heading}", *([f"`{within}`"] * is_method), "".join(parts)])
