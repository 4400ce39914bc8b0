"""The line of one measured transfer, and its list of files."""

from collections.abc import Collection
from typing import Final

from advisor.api.command_line import roots_of
from advisor.api.tool import Step, TransferOrder

from .known import Login, Store
from .options import address_of, setting_options

_REPORTED: Final = (
    *("--use-json-log", "--log-file", "/dev/stdout"),
    *("--stats", "500ms", "--stats-log-level", "NOTICE"),
    *("--retries", "1"),
)
_NO_EXTRAS: Final = ("--sftp-disable-hashcheck", "--sftp-set-modtime=false")
"""Round trips for each file, for what the agent there does anyway."""

_AT_ONCE: Final = ("--low-level-retries", "1")
"""A probe has to know soon that a connection was refused. With more, rclone waits up to 2 s before
each, one after another, while the connections that it has are idle."""
_STORE: Final = ("--low-level-retries", "3")
"""A store may fail one request of many without a cause that lasts (status 500, or SlowDown), and
rclone asks it again after some 10 ms."""
_PROVEN: Final = ("--no-check-dest", "--ignore-checksum", "--low-level-retries", "2")
"""Whatever is there is replaced, whether size and time are the same or not. Who has started it
tries again too."""


def steps_for(order: TransferOrder, server: Login | Store, flags: Collection[str]) -> list[Step]:
    """One program, on the source. Raises ValueError for what rclone cannot move."""
    if not all(piece.is_whole for piece in order.pieces):
        raise ValueError("rclone moves whole files, no ranges of one")
    options = [*setting_options(order.setting, order.path.bound_address), *_manner(order, server)]
    if order.is_proven and "--inplace" in flags:
        # Under its own name at once: no other name remains when it is ended.
        options.append("--inplace")
    if order.follows_links:
        options.append("--copy-links")
    source, target = roots_of(order.pieces, "rclone")
    if not source:
        [piece] = order.pieces
        argv = ["rclone", "copyto", *options, piece.source]
        argv += [address_of(server, piece.target, flags)]
        return [_step(server, argv, None)]
    argv = ["rclone", "copy", *options, "--files-from-raw", order.list_file]
    # As an absolute path, no name can be taken for a remote or an option.
    argv += [source, address_of(server, target, flags)]
    names = [piece.source[len(source) :].lstrip("/") for piece in order.pieces]
    text = "".join(f"{name}\n" for name in names)
    return [_step(server, argv, text)]


def _manner(order: TransferOrder, server: Login | Store) -> list[str]:
    """What it prints, and what it does about failures and about what is there."""
    if order.for_user:
        return ["--progress"]
    if order.is_proven:
        return [*_REPORTED, *_PROVEN, *(_NO_EXTRAS if isinstance(server, Login) else ())]
    return [*_REPORTED, *(_AT_ONCE if isinstance(server, Login) else _STORE)]


def _step(server: Login | Store, argv: list[str], list_text: str | None) -> Step:
    return Step(
        side="source",
        argv=argv,
        list_text=list_text,
        server_port=None if isinstance(server, Login) else server.port,
        as_login=isinstance(server, Login),
    )
