"""The reference of what a plugin may import, from the source: the same with every Python."""

import ast
import pkgutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import advisor.api
import advisor.testing
from tests.manual.markdown import page

_ROOT = Path(__file__).parents[2]
_ABOUT = (
    "After this page you can write a method, transport or tool: it imports `advisor.api`, and its "
    "tests `advisor.testing`. Where the file goes is in [the architecture](../architecture.md). "
    "The plugins of this program are in `plugins/`."
)


class Named(NamedTuple):
    """A public name: its first line in the source, its docstring, and its documented members."""

    name: str
    line: str
    about: str
    members: list["Named"]


def public_names() -> dict[str, list[Named]]:
    """The public names of each public module of `advisor.api` and `advisor.testing`."""
    found = {}
    for package in (advisor.api, advisor.testing):
        for one in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            found[one.name] = [_found(one.name, name) for name in _offered(one.name)]
    return found


def plugin_api_page() -> str:
    """A section for each module."""
    parts = []
    for module, names in public_names().items():
        about = ast.get_docstring(_tree(module)) or ""
        parts += [f"## {module}", about, *(part for one in names for part in _section(one))]
    return page("What a plugin may import", _ABOUT, parts)


def _section(one: Named) -> Iterator[str]:
    yield f"### {one.name}"
    yield f"```text\n{one.line}\n```"
    yield _text(one.about)
    for member in one.members:
        # A definition list would need an extension; a line of code and a paragraph do not.
        yield f"- `{' '.join(member.line.split())}`: {' '.join(_text(member.about).split())}"


def _text(docstring: str) -> str:
    return docstring.replace("<", "&lt;")


@cache
def _source(module: str) -> str:
    file = _ROOT / (module.replace(".", "/") + ".py")
    return (file if file.exists() else file.with_suffix("") / "__init__.py").read_text()


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(_source(module))


def _offered(module: str) -> list[str]:
    """`__all__` where there is one, else what is defined without an underscore."""
    for node in _tree(module).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names: list[str] = ast.literal_eval(node.value)
            return names
    defined = [_name(node) for node in _tree(module).body]
    return [name for name in defined if name and not name.startswith("_")]


def _name(node: ast.stmt) -> str:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return node.name
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return ""


def _found(module: str, name: str) -> Named:
    """The name where it is defined: imports of the module are followed."""
    body = _tree(module).body
    for number, node in enumerate(body):
        if _name(node) == name:
            return _described(module, name, node, body[number + 1 :])
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _found(node.module, alias.name)
    raise LookupError(f"{module} has no {name}")


def _described(module: str, name: str, node: ast.stmt, after: list[ast.stmt]) -> Named:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        about = ast.get_docstring(node) or ""
    else:
        about = _text_below(node, after)
    members = _members(module, node) if isinstance(node, ast.ClassDef) else []
    return Named(name, _line(module, node), about, members)


def _text_below(node: ast.stmt, after: list[ast.stmt]) -> str:
    """The text under an assignment, or under several that have no blank line between them."""
    for following in after:
        if following.lineno != (node.end_lineno or 0) + 1:
            break
        if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            return str(following.value.value)
        node = following
    return ""


def _members(module: str, node: ast.ClassDef) -> list[Named]:
    """Methods with a docstring: those of the contract tests say what they are by their names."""
    return [
        Named(one.name, _line(module, one), ast.get_docstring(one) or "", [])
        for one in node.body
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
        and not one.name.startswith("_")
        and ast.get_docstring(one)
    ]


def _line(module: str, node: ast.stmt) -> str:
    """The statement up to its body, as it is in the source."""
    text = ast.get_source_segment(_source(module), node) or ""
    body = getattr(node, "body", None)
    if not body:
        return text
    lines = text.splitlines()[: body[0].lineno - node.lineno]
    return "\n".join(lines).rstrip(":").rstrip()
