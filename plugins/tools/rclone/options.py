"""The options of printed and of measured lines, and the remote.

For a store, the parts of a file are those of S3's multi-part upload. rclone's own parts
(`--multi-thread-streams`) are left out: they would start at another size.
"""

from collections.abc import Collection
from typing import Final

from advisor.api.command_line import bracketed
from advisor.api.flow_space import is_as_typed
from advisor.api.values import Setting

from .known import Login, Store

DEFAULT_TRANSFERS: Final = 4
DEFAULT_OUTSTANDING: Final = 64
DEFAULT_PARTS: Final = 4
DEFAULT_CHUNK_BYTES: Final = 5 * 2**20
_SENDS_PARTS: Final = "--sftp-disable-multithread-upload"
"""An rclone that has this option writes a file over several connections."""

_SPECIAL: Final = frozenset(",:=\"'")


def can_send_parts(flags: Collection[str]) -> bool:
    """Whether this rclone can write a file to SFTP in concurrent parts."""
    return _SENDS_PARTS in flags


def setting_options(setting: Setting, bound_address: str = "") -> list[str]:
    """For a setting of rclone itself."""
    bind = ["--bind", bound_address] if bound_address else []
    if is_as_typed(setting):
        return bind
    per_file = int(setting["parallelism"])
    if chunk_bytes := int(setting.get("chunk_bytes", 0)):
        chunk = f"{chunk_bytes // 2**20}M"
        parts = ["--s3-upload-concurrency", str(per_file), "--s3-chunk-size", chunk]
        # A file is sent in parts as soon as it has two.
        parts += ["--s3-upload-cutoff", chunk, "--multi-thread-streams", "0"]
        return ["--transfers", str(setting["concurrency"]), *parts, *bind]
    options = ["--transfers", str(setting["concurrency"]), *part_options(per_file)]
    if (outstanding := int(setting.get("outstanding", DEFAULT_OUTSTANDING))) != DEFAULT_OUTSTANDING:
        options += ["--sftp-concurrency", str(outstanding)]
    return [*options, *bind]


def part_options(per_file: int) -> list[str]:
    """For this many connections for each large file."""
    # M is 2^20 bytes in every version; only the newer ones take Mi.
    cutoff = ["--multi-thread-cutoff", "64M"] if per_file > 1 else []
    return ["--multi-thread-streams", str(per_file if per_file > 1 else 0), *cutoff]


def address_of(server: Login | Store, path: str, flags: Collection[str]) -> str:
    """How rclone writes a path at the destination. Raises ValueError for one outside a store."""
    if isinstance(server, Store):
        return server.address(path)
    return remote_of(server, flags) + path


def remote_of(login: Login, flags: Collection[str] = ()) -> str:
    """A remote given inline, which needs no configuration."""
    given = {
        # rclone appends the port to it as it is.
        "host": bracketed(login.host),
        "user": login.user,
        "port": str(login.port) if login.port else "",
        "key_file": login.key_file,
        "known_hosts_file": login.known_hosts,
        # Else rclone may ask for a key of another kind than the one that is known.
        "host_key_algorithms": (
            login.host_key_kind if "--sftp-host-key-algorithms" in flags else ""
        ),
    }
    words = [f"{name}={_quoted(value)}" for name, value in given.items() if value]
    return f":sftp,{','.join(words)}:"


def _quoted(value: str) -> str:
    if not _SPECIAL & set(value):
        return value
    return '"' + value.replace('"', '""') + '"'
