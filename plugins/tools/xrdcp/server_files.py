"""xrdfs's commands about a folder at its server, where no agent looks after it."""

import re
from typing import Final

from advisor.api.server_files import ServerCommands

from .known import AT_ONCE, Server

_ABSENT: Final = 3

# xrdfs ends with status 54 for all that a server refuses; 3011 is the server's number for an absent
# path. Of a listing, only what is below the folder is removed: files, then folders from below.
_CHECKED: Final = (
    '{ said=$(xrdfs "$0" "$@" 2>&1 >&3); status=$?; } 3>&1; '
    'case $said in "[ERROR] Server responded with an error: [3011] "*) exit 3; esac; '
    'printf "%s\\n" "$said" >&2; exit "$status"'
)
_BELOW: Final = (
    'substr($0, 1, 1) == kind && (at = index($0, " " ENVIRON["folder"])) && '
    r"!/\/\.\.(\/|$)/ { print substr($0, at + 1) }"
)
_REMOVE: Final = (
    'listed=$(sh -c "$2" "$0" ls -l -R "$1") || exit; export folder="$1/"; awk=$3; '
    """below() { printf '%s\\n' "$listed" | awk -v kind="$1" "$awk" | """
    """sort -r | tr '\\n' '\\0'; }; """
    'below - | xargs -0 -r -n 100 xrdfs "$0" rm >/dev/null && '
    'below d | xargs -0 -r -n 1 xrdfs "$0" rmdir && xrdfs "$0" rmdir "$1"'
)
_LINE: Final = re.compile(
    r"(?P<kind>[-d])\S* +\S+ +\S+ +(?P<size>\d{1,19}) \d{4}-\d\d-\d\d \d\d:\d\d:\d\d (?P<path>/.*)"
)


def commands_for(server: Server, folder: str) -> ServerCommands:
    """Raises ValueError for a folder that XRootD would take for another one."""
    if "?" in folder:
        raise ValueError(f"{folder} has a question mark, at which XRootD ends a name")
    checked = [*AT_ONCE, "sh", "-c", _CHECKED, server.url]
    return ServerCommands(
        look=[*checked, "stat", folder],
        sizes=[*checked, "ls", "-l", "-R", folder],
        remove=[*AT_ONCE, "sh", "-c", _REMOVE, server.url, folder.rstrip("/"), _CHECKED, _BELOW],
        absent_status=_ABSENT,
    )


def sizes_in(folder: str, text: str) -> dict[str, int]:
    """What `xrdfs ls` printed of this folder. Raises ValueError for any other text."""
    above = folder.rstrip("/") + "/"
    sizes = {}
    # Not `splitlines`: a name may have other line ends.
    for line in filter(None, text.split("\n")):
        listed = _LINE.fullmatch(line)
        if listed is None:
            raise ValueError("xrdfs ls printed no list")
        if not listed["path"].startswith(above):
            raise ValueError("xrdfs ls printed what is in another folder")
        if listed["kind"] == "-":
            sizes[listed["path"].removeprefix(above)] = int(listed["size"])
    return sizes
