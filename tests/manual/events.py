"""The reference of all events and their fields, from their JSON Schema."""

from typing import Any

from advisor.report.ndjson import schema
from tests.manual.markdown import code, page, plain, table

_ABOUT = (
    "After this page you can read every field of every event that `--json` prints, and that "
    "`advisor.advise` yields. When each happens is in [events](../events.md), with the output as a "
    "whole; [events.schema.json](../events.schema.json) is the same for programs.\n\n"
    "Rates are in bit/s (`_bps`), sizes in bytes (`_bytes`), times in seconds (`_s`)."
)


def events_page() -> str:
    """A section for each event, then for each value that is part of one."""
    known: dict[str, Any] = schema()["$defs"]
    events = {name: one for name, one in known.items() if tag_of(one)}
    values = {name: one for name, one in known.items() if name not in events}
    parts = [_section(tag_of(one), one) for one in events.values()]
    parts += ["## Values in events"]
    parts += [_section(name, one, level=3) for name, one in sorted(values.items())]
    return page("All events and their fields", _ABOUT, parts)


def tag_of(definition: dict[str, Any]) -> str:
    """The `event` of a definition; "" of one that is no event."""
    tag = definition.get("properties", {}).get("event", {})
    return str(tag.get("const") or next(iter(tag.get("enum", [""]))))


def _section(name: str, definition: dict[str, Any], level: int = 2) -> str:
    heading = f"{'#' * level} {name}"
    about = [plain(part) for part in definition.get("description", "").split("\n\n")]
    # With the fields in an array, they have no names on the line.
    if "properties" not in definition:
        return "\n\n".join([heading, *about, f"Value: {_kind(definition)}"])
    required = definition.get("required", [])
    rows = [
        (code(field), _kind(one), "" if field in required else "may be absent")
        for field, one in definition["properties"].items()
        if field != "event"
    ]
    return "\n\n".join([heading, *about, table(("field", "value", ""), rows)])


def _kind(one: dict[str, Any]) -> str:
    """The value in words, with links to the definitions."""
    if "$ref" in one:
        name = one["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in one:
        return " or ".join(dict.fromkeys(map(_kind, one["anyOf"])))
    if "enum" in one or "const" in one:
        return " or ".join(code(str(value)) for value in one.get("enum", [one.get("const")]))
    kind = one.get("type", "any")
    if kind == "array":
        if "prefixItems" in one:
            return f"array of {', '.join(map(_kind, one['prefixItems']))}"
        return f"array of {_kind(one['items'])}" if isinstance(one.get("items"), dict) else "array"
    if kind == "object":
        inner = one.get("additionalProperties")
        return f"object of {_kind(inner)}" if isinstance(inner, dict) else "object"
    return str(kind)
