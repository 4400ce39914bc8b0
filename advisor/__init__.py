"""A data transfer advisor: measures a path, recommends a transport, settings and commands.

In Python, for notebooks and scripts: `advise` measures, `history` is what was measured, `events`
has what a session yields, and `AdvisorError` is what both raise. Each is loaded when it is first
used. Type checkers read `__init__.pyi`.
"""

import importlib
from typing import Any, Final

__version__: Final = "0.1.0"

__all__ = ["Advising", "AdvisorError", "advise", "events", "history"]

_MODULES: Final = {
    "AdvisorError": "notebook.errors",
    "Advising": "notebook.advising",
    "advise": "notebook.advising",
    "history": "notebook.tables",
}


def __getattr__(name: str) -> Any:
    if name == "events":
        return importlib.import_module("advisor.domain.events")
    if name in _MODULES:
        return getattr(importlib.import_module(f"advisor.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'advisor' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
