"""The entries of a form, kept between runs of the program."""

import contextlib
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
from platformdirs import user_state_path

from advisor.hosts.decoding import BadData, decoded
from advisor.store.errors import StoreError
from advisor.store.files import make_directory, replace_file

FormT = TypeVar("FormT")
_LIMIT_BYTES: Final = 1 << 20


def load_form(name: str, kind: type[FormT]) -> FormT | None:
    """The entries stored last under this name; None where none can be read."""
    with contextlib.suppress(OSError, BadData):
        return decoded(msgspec.json.Decoder(kind), _file(name).read_bytes(), _LIMIT_BYTES)
    return None


def save_form(name: str, entered: Any) -> None:
    """Store the entries for the next run. If that fails, they last as long as the program.

    Entries that are not UTF-8, as names of files may be, are not stored either.
    """
    with contextlib.suppress(OSError, StoreError, UnicodeEncodeError):
        make_directory(_file(name).parent)
        replace_file(_file(name), msgspec.json.encode(entered))


def _file(name: str) -> Path:
    return user_state_path("advisor") / name
