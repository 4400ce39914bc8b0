"""Every number that is decoded from outside has a range."""

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import inspect

from advisor.agent.messages import Reply
from advisor.api.transport import Report
from advisor.domain.records import Record


def numbers(kind: inspect.Type, place: str, seen: set[type]) -> Iterator[tuple[str, Any]]:
    """Each number in a type, with the place of its field."""
    if isinstance(kind, inspect.IntType | inspect.FloatType):
        yield place, kind
    elif isinstance(kind, inspect.StructType):
        if kind.cls not in seen:
            seen.add(kind.cls)
            for field in kind.fields:
                yield from numbers(field.type, f"{kind.cls.__name__}.{field.name}", seen)
    else:
        inner = [getattr(kind, name, None) for name in ("item_type", "key_type", "value_type")]
        for one in (*inner, *getattr(kind, "types", ()), *getattr(kind, "item_types", ())):
            if isinstance(one, inspect.Type):
                yield from numbers(one, place, seen)


def is_bounded(kind: Any) -> bool:
    low = kind.ge if kind.gt is None else kind.gt
    high = kind.le if kind.lt is None else kind.lt
    return low is not None and high is not None


@pytest.mark.parametrize("outside", [Record, Reply, Report])
def test_every_number_from_outside_has_a_range(outside: Any) -> None:
    """JSON has integers of any size; MessagePack has those of 64 bits, and floats end at 1e308."""
    found = list(numbers(inspect.type_info(outside), "", set()))
    assert len(found) > 10
    assert [place for place, one in found if not is_bounded(one)] == []
