"""Reads the lines of JSON that programs print among others."""

import json
from typing import Any


def json_entry(line: str) -> dict[str, Any]:
    """The object of a line; empty for other lines."""
    if not line.startswith("{"):
        return {}
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}
