"""For mkdocs: the pages in the order of docs/index.md, which `advisor help` shows too."""

import re
from pathlib import Path
from typing import Any

_HEADING = re.compile(r"^## (.+)$")
_PAGE = re.compile(r"^- `[a-z-]+`: \[([^\]]+)\]\(([^)]+\.md)\)")


def nav(index: str) -> list[dict[str, Any]]:
    """The parts of the index with their pages, after the index itself."""
    parts: list[dict[str, Any]] = [{"Manual": "index.md"}]
    for line in index.splitlines():
        if heading := _HEADING.match(line):
            parts.append({heading[1]: []})
        elif page := _PAGE.match(line):
            title = page[1][:1].upper() + page[1][1:]
            next(iter(parts[-1].values())).append({title: page[2]})
    return parts


def on_config(config: Any) -> Any:
    """Called by mkdocs before it builds."""
    config["nav"] = nav(Path(config["docs_dir"], "index.md").read_text(encoding="utf-8"))
    return config
