"""rclone's commands about a folder at its server, where no agent looks after it."""

from collections.abc import Collection
from typing import Annotated, Final

import msgspec

from advisor.api.server_files import ServerCommands

from .known import Login, Store
from .options import address_of

_ABSENT: Final = 3
"""rclone's exit status where a directory is not found."""

_QUICK: Final = ("--sftp-disable-hashcheck", "--sftp-shell-type=none")
"""Spare the round trips of a login that find out the checksum commands and the shell there."""


class _Listed(msgspec.Struct, rename="pascal"):
    path: str
    size: Annotated[int, msgspec.Meta(ge=0, le=2**62)]


def commands_for(server: Login | Store, folder: str, flags: Collection[str]) -> ServerCommands:
    """Raises ValueError for a folder outside a store."""
    address = address_of(server, folder, flags)
    quick = [one for one in _QUICK if one.partition("=")[0] in flags]
    listing = ["rclone", "lsjson", *quick, "--no-modtime", "--no-mimetype"]
    return ServerCommands(
        # A store has no folders but those that its objects' names make up.
        look=[] if isinstance(server, Store) else [*listing, "--stat", address],
        sizes=[*listing, "--recursive", "--files-only", address],
        remove=["rclone", "purge", *quick, "--retries", "1", address],
        absent_status=_ABSENT,
    )


def sizes_in(text: str) -> dict[str, int]:
    """What `rclone lsjson` printed. Raises ValueError for any other text."""
    try:
        listed = msgspec.json.decode(text, type=list[_Listed])
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"rclone lsjson printed no list ({error})") from None
    return {one.path: one.size for one in listed}
