"""s5cmd's commands about a folder in its store, where no agent looks after it."""

import re
from typing import Annotated, Final

import msgspec

from advisor.api.server_files import ServerCommands

from .known import Store, s5cmd

_ABSENT: Final = 3
_NONE_THERE: Final = (
    '{ said=$("$@" 2>&1 >&3); status=$?; } 3>&1; '
    'case $said in *\'"error":"no object found"\'*) exit 3; esac; '
    'printf "%s\\n" "$said" >&2; exit "$status"'
)
"""s5cmd ends with status 1 for all failures, and says as JSON, in which names are quoted, that no
object is there."""


class _Listed(msgspec.Struct):
    key: str
    size: Annotated[int, msgspec.Meta(ge=0, le=2**62)] = 0


def commands_for(store: Store, folder: str) -> ServerCommands:
    """Raises ValueError for a folder outside the store."""
    below = store.address(folder).rstrip("/") + "/*"
    if re.search(r"[*?\[]", below[:-1]):
        raise ValueError(f"{folder} has characters of a pattern, which s5cmd would follow")
    checked = ["sh", "-c", _NONE_THERE, "sh", *s5cmd(store, "--json")]
    return ServerCommands(
        # A store has no folders but those that its objects' names make up.
        look=[],
        sizes=[*checked, "ls", below],
        remove=[*checked, "rm", below],
        absent_status=_ABSENT,
    )


def sizes_in(store: Store, folder: str, text: str) -> dict[str, int]:
    """What `s5cmd ls` printed of this folder. Raises ValueError for any other text."""
    above = store.address(folder).rstrip("/") + "/"
    try:
        listed = [msgspec.json.decode(line, type=_Listed) for line in text.splitlines()]
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"s5cmd ls printed no list ({error})") from None
    if any(not one.key.startswith(above) for one in listed):
        raise ValueError("s5cmd ls printed what is in another folder")
    return {one.key.removeprefix(above): one.size for one in listed}
