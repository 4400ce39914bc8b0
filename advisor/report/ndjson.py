"""Events as lines of JSON, one per event, and their schema."""

import inspect
import json
from collections.abc import Callable
from typing import Any, TextIO

import msgspec

from advisor.domain.events import AnyEvent
from advisor.domain.printable import json_text
from advisor.domain.records import Record


def writer(stream: TextIO) -> Callable[[AnyEvent], None]:
    """A listener that writes each event immediately."""
    encoder = msgspec.json.Encoder()

    def write(event: AnyEvent) -> None:
        stream.write(json_text(encoder.encode(event)) + "\n")
        stream.flush()

    return write


def record_writer(stream: TextIO) -> Callable[[Record], None]:
    """As `writer`, for records: lines with `record` in place of `event`."""
    encoder = msgspec.json.Encoder()

    def write(record: Record) -> None:
        stream.write(json_text(encoder.encode(record)) + "\n")
        stream.flush()

    return write


def schema() -> dict[str, Any]:
    """The JSON Schema that every line conforms to."""
    made = msgspec.json.schema(AnyEvent)
    for definition in made["$defs"].values():
        # Up to Python 3.12 a docstring keeps the indentation of its source.
        if "description" in definition:
            definition["description"] = inspect.cleandoc(definition["description"])
    _drop_patterns(made)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Events of advisor --json",
        **made,
    }


def _drop_patterns(part: Any) -> None:
    """Leave out the patterns of strings: they are Python's, which other validators cannot read."""
    if isinstance(part, dict):
        # A property of that name would have a schema there, no text.
        if isinstance(part.get("pattern"), str):
            del part["pattern"]
        for below in part.values():
            _drop_patterns(below)
    elif isinstance(part, list):
        for below in part:
            _drop_patterns(below)


def schema_text() -> str:
    """The schema as published in the documentation."""
    return json.dumps(schema(), indent=2) + "\n"
