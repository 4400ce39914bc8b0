"""What was entered in a form, kept from one start of the program to the next."""

import contextlib
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from platformdirs import user_state_path

from advisor.store.errors import StoreError
from advisor.store.files import make_directory, replace_file

FormT = TypeVar("FormT")


def load_form(name: str, kind: type[FormT]) -> FormT | None:
    """What was kept last under this name; None where there is nothing that can be read."""
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode(_file(name).read_bytes(), type=kind)
    return None


def keep(name: str, entered: Any) -> None:
    """Keep it for the next start. Where it cannot be kept, it lasts as long as the program."""
    with contextlib.suppress(OSError, StoreError):
        make_directory(_file(name).parent)
        replace_file(_file(name), msgspec.json.encode(entered))


def _file(name: str) -> Path:
    return user_state_path("advisor") / name
