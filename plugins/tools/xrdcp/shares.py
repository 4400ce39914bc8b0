"""The part of a shell script in which several processes get a share of the files each.

xrdcp takes a list of files for one folder only. A folder of links to the files of a share it copies
as it stands, for it follows links.
"""

from typing import Final

_SHARES: Final = (
    'for l in "$d"/*; do '
    'mkdir "$l.links" "$l.to" && ln -s "$l.links$1" "$l.to/$0" && '
    # Folders that are read-only at the source are not among the links.
    'xargs -0 cp -s --parents --no-preserve=mode -t "$l.links" -- <"$l" || exit; done'
)
_SEND: Final = (
    r'printf "%s\0" "$d"/*.to | xargs -0 -P {processes} -n 1 '
    """sh -c 'exec xrdcp -s -f -p -r "$2/$0/" "$1"' "$0" "$2\""""
)

TIDY: Final = """trap 'rm -rf "$d"' EXIT && trap "exit 130" HUP INT TERM"""
"""The folder `$d` does not outlast the script."""

DEAL: Final = rf'split -t "\0" -n r/{{processes}} - "$d/" && {_SHARES} && {_SEND}'
"""Sends the files whose names it reads, ended by NUL. To be formatted.

`$d`: an empty folder. `$0`, `$1`: the name at the destination of the folder that all the files are
in, and that folder. `$2`: the URL of the folder above the destination's.
"""
