"""Reads `fleet.toml`: bounded, every key known, every value of its type."""

import difflib
import re
import tomllib
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import inspect

from advisor.domain.printable import is_printable, printable, shortened
from advisor.domain.problem import ProblemError, ProblemKind
from advisor.fleet.configuration.tables import FleetFile

LIMIT_BYTES: Final = 2 * 2**20
_KEY_LENGTH: Final = 64
_TEXT_LENGTH: Final = 1024
_ITEMS: Final = 2000
_DOTS: Final = re.compile(rb"(?<![A-Za-z0-9_\"'-])(?:[A-Za-z0-9_\"'-]+[ \t]*\.[ \t]*){16}")
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


class BadFleet(ProblemError, ValueError):
    """`fleet.toml` cannot be used: the key, what is wrong with it, and the remedy."""

    kind = ProblemKind.INVALID


def read_file(path: Path) -> bytes:
    """What is in a file, as far as `decoded` looks at it. Raises BadFleet."""
    try:
        with path.open("rb") as file:
            return file.read(LIMIT_BYTES + 1)
    except FileNotFoundError:
        raise BadFleet(
            f"there is no '{path}'",
            remedy="`advisor fleet init` writes an example",
            command="advisor fleet init",
            kind=ProblemKind.MISSING,
        ) from None
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        reason = getattr(error, "strerror", None) or str(error)
        raise BadFleet(f"{path}: {reason}", remedy="name another file") from None


def decoded(data: bytes) -> FleetFile:
    """The tables of a text. Raises BadFleet."""
    if len(data) > LIMIT_BYTES:
        raise BadFleet(f"it is longer than {LIMIT_BYTES} bytes", remedy="split the fleet")
    # Python's parser takes time by the square of the parts of a key.
    if _DOTS.search(data):
        raise BadFleet("a key has more than 16 parts", remedy="write tables as in [hosts.dtn01]")
    try:
        tables = tomllib.loads(data.decode())
    except UnicodeDecodeError:
        raise BadFleet("it is not UTF-8", remedy="save it as UTF-8") from None
    except RecursionError:
        raise BadFleet("it is nested too deep", remedy="write lists of names only") from None
    except (tomllib.TOMLDecodeError, ValueError, OverflowError) as error:
        raise BadFleet(_toml_sentence(str(error)), remedy="correct the line") from None
    _check(tables, inspect.type_info(FleetFile), ())
    return msgspec.convert(tables, FleetFile)


def _toml_sentence(text: str) -> str:
    if "Cannot declare" in text or "Cannot overwrite" in text:
        return f"a name is given twice: {shortened(text, 200)}"
    return f"not TOML: {shortened(text, 200)}"


def key_path(place: tuple[str | int, ...]) -> str:
    """`hosts.dtn01.bandwidth`, `planned[2].at`; a key that is not bare is quoted."""
    path = ""
    for part in place:
        if isinstance(part, int):
            path += f"[{part + 1}]"
        else:
            shown = part if _BARE.fullmatch(part) else f'"{shortened(part, _KEY_LENGTH)}"'
            path += f".{shown}" if path else shown
    return path


def wrong(place: tuple[str | int, ...], reason: str, remedy: str) -> BadFleet:
    """The problem of one key."""
    return BadFleet(f"{key_path(place)}: {reason}", remedy=remedy)


def _check(value: Any, kind: inspect.Type, place: tuple[str | int, ...]) -> None:
    """Raise BadFleet for the first value that is not of its type; depth is that of the types."""
    match kind:
        case inspect.StructType(fields=fields):
            _check_table(value, fields, place)
        case inspect.DictType(value_type=inner):
            for key, one in _table(value, place).items():
                _check_key(key, place)
                _check(one, inner, (*place, key))
        case inspect.ListType(item_type=inner):
            if not isinstance(value, list):
                raise wrong(place, f"{_shown(value)} is not a list", "write it in [ ]")
            if len(value) > _ITEMS:
                raise wrong(place, f"it has {len(value)} items", f"list {_ITEMS} at most")
            for number, one in enumerate(value):
                _check(one, inner, (*place, number))
        case inspect.UnionType():
            _check(value, next(t for t in kind.types if not isinstance(t, inspect.NoneType)), place)
        case _:
            _check_value(value, kind, place)


def _check_table(
    value: Any, fields: tuple[inspect.Field, ...], place: tuple[str | int, ...]
) -> None:
    known = {field.encode_name: field for field in fields}
    given = _table(value, place)
    for key, one in given.items():
        if key not in known:
            near = difflib.get_close_matches(key[:_KEY_LENGTH], known, 1)
            remedy = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(known)}"
            raise wrong((*place, key), "there is no such key", remedy)
        _check(one, known[key].type, (*place, key))
    for key, field in known.items():
        if field.required and key not in given:
            raise wrong((*place, key), "it is missing", _remedy_for(key))


def _remedy_for(key: str) -> str:
    remedies = {
        "bandwidth": 'write what the link carries, as in bandwidth = "10Gbit"',
        "hosts": "list hosts, groups, or tags as in tag:10g",
        "measure": "say what to measure, as in [measure.mesh]",
        "every": 'write how often, as in every = "7d"',
        "budget": 'write how long one may take, as in budget = "30s"',
        "at-once": "write how many measurements may use it at a time, as in at-once = 2",
        "at": "write the time, as in at = 2027-01-31T06:00:00Z",
    }
    return remedies.get(key, f"write {key} = …")


def _check_key(key: str, place: tuple[str | int, ...]) -> None:
    if not key or len(key) > _KEY_LENGTH or not is_printable(key):
        raise wrong(
            (*place, key), "this cannot be a name", f"use at most {_KEY_LENGTH} visible characters"
        )


def _table(value: Any, place: tuple[str | int, ...]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise wrong(place, f"{_shown(value)} is not a table", f"write [{key_path(place)}]")
    return value


def _check_value(value: Any, kind: inspect.Type, place: tuple[str | int, ...]) -> None:
    match kind:
        case inspect.LiteralType(values=choices):
            if value not in choices:
                raise wrong(
                    place, f"there is no {_shown(value)}", f"write {_or(map(str, choices))}"
                )
        case inspect.StrType():
            _check_text(value, place)
        case inspect.BoolType():
            if not isinstance(value, bool):
                raise wrong(place, f"{_shown(value)} is neither true nor false", "write true")
        case inspect.IntType():
            whole = isinstance(value, int) and not isinstance(value, bool)
            if not whole or not 1 <= value <= 10_000:
                raise wrong(place, f"{_shown(value)} cannot be", "write a number from 1 to 10000")
        case inspect.DateTimeType():
            if not isinstance(value, datetime) or value.tzinfo is None:
                raise wrong(
                    place, f"{_shown(value)} is not a time with its zone", _remedy_for("at")
                )


def _check_text(value: Any, place: tuple[str | int, ...]) -> None:
    if not isinstance(value, str):
        raise wrong(place, f"{_shown(value)} is not text", "write it between quotes")
    if len(value) > _TEXT_LENGTH or not is_printable(value):
        raise wrong(
            place,
            f"{_shown(value)} is too long or has characters that cannot be seen",
            f"write at most {_TEXT_LENGTH} visible characters",
        )


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    return f"'{shortened(printable(str(value)[:100]), 60)}'"


def _or(words: Any) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}"
