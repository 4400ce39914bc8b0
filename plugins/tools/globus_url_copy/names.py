"""Which names arrive unchanged: found by sending every ASCII character and some beyond.

globus-url-copy 10.12 to server 13.24: all printable ASCII arrives, including space, `%`, `#`, `?`,
`*`, `[`, backslash and leading dash, and so do tabs, carriage returns and a few other control
characters. The server silently drops all others from the name. A double quote arrives from a list,
but not with `-r`. A list truncates a source's URL after 511 characters (an encoded one counts as
three) and then looks for the wrong file; `-r` supports paths as long as the system does.
"""

import re
from typing import Final
from urllib.parse import quote

_DROPPED: Final = re.compile(r"[^\x07-\x09\x0b-\x0d\x20-\x7e]")
_URL_CHARACTERS: Final = 511
_ROOM_FOR_FOLDERS: Final = 150
"""The characters left of the limit for the folders that the dataset is in."""


def why_not(name: str) -> str:
    """Why a file cannot arrive or would change its name; "" if it arrives unchanged."""
    dropped = _DROPPED.search(name)
    if dropped:
        character = dropped.group()
        what = "non-ASCII letters" if character > "\x7f" else "line ends and control characters"
        return f"the server drops {what} from names"
    if '"' in name:
        return "-r stops at a name with a double quote"
    if len(quote(name)) > _URL_CHARACTERS - _ROOM_FOR_FOLDERS:
        return "its path is too long for a list of files, as measuring needs it"
    return ""
