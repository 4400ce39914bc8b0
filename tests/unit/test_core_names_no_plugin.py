"""The core names no bundled plugin: what it knows of one, the plugin tells in its traits."""

import ast
import re
from pathlib import Path
from typing import Final

from advisor import registry

ADVISOR: Final = Path(registry.__file__).parent

NO_PLUGIN_MEANT: Final = {
    "cli/computing.py": "`tcp://` begins an address of Dask",
    "hosts/rtt.py": "`tcp handshake` is a way to measure the RTT: a word of stored records",
    "hosts/scratch.py": "`/proc/net/tcp` is the kernel's table of sockets",
    "models/planning.py": "the published rules of `advisor plan`, which need no plugin",
    "runtime/executor.py": "`tcp://` begins an address of Dask",
    "store/importers/__init__.py": "`globus task list` is a command: it prints such a file",
    "store/importers/globus_tasks.py": "as above",
}
"""Files where the word is no plugin's name, with what it is."""


def bundled_names() -> set[str]:
    return {line.name for line in registry.listing() if line.origin == "bundled"}


def core_files() -> list[Path]:
    # advisor.testing makes samples for plugins' own tests, and may name them.
    inside = (path.relative_to(ADVISOR) for path in ADVISOR.rglob("*.py"))
    return sorted(path for path in inside if path.parts[0] not in ("testing", "plugins"))


def literals(tree: ast.Module) -> list[str]:
    """Every string but those that stand alone: docstrings."""
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone
    ]


def imports(tree: ast.Module) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append(node.module or "")
    return found


def named_in(path: Path, names: set[str]) -> set[str]:
    """The plugins that a file of the core names in a string or imports."""
    tree = ast.parse((ADVISOR / path).read_text())
    as_words = re.compile(rf"(?<![\w.-])({'|'.join(map(re.escape, sorted(names)))})(?![\w-])")
    said = {name for text in literals(tree) for name in as_words.findall(text)}
    return said | {name for name in imports(tree) if name.split(".")[0] == "plugins"}


def test_the_core_names_no_bundled_plugin() -> None:
    names = bundled_names()
    assert len(names) > 20
    naming = {str(path): found for path in core_files() if (found := named_in(path, names))}
    assert {path: found for path, found in naming.items() if path not in NO_PLUGIN_MEANT} == {}
    assert naming.keys() == NO_PLUGIN_MEANT.keys(), "an exception is no longer needed"
