"""Run by the agent's own interpreter, whose language the modules are in: finds and compiles them.

Standard input has the arguments of `closure` and the modules to take the place of others, as JSON.
The result is a folder of compiled modules, without times and without paths of this host.
"""

import importlib._bootstrap_external
import json
import sys
from pathlib import Path

from closure import Module, closure


def main() -> None:
    """Write the compiled modules into the folder that is named."""
    task = json.load(sys.stdin)
    folders = [Path(folder) for folder in task["folders"]]
    modules = closure(task["roots"], folders, frozenset(task["without"]))
    for name, path in task["replaced"].items():
        modules[name] = Module(name, Path(path), False)
    for module in modules.values():
        place = module.name.replace(".", "/") + ("/__init__" if module.is_package else "")
        code = compile(module.path.read_bytes(), f"{place}.py", "exec", dont_inherit=True)
        target = Path(task["result"], f"{place}.pyc")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(importlib._bootstrap_external._code_to_hash_pyc(code, bytes(8), False))


if __name__ == "__main__":
    main()
