"""Which names survive the way: found by sending every ASCII character and some beyond.

globus-url-copy 10.12 to server 13.24: all printable ASCII arrives, space, `%`, `#`, `?`, `*`, `[`,
backslash and leading dash included, and so do tabs, carriage returns and a few other control
characters. What else there is, the server drops from the name without a word. A double quote
arrives from a list, but not by `-r`. A list cuts a source's URL after 511 characters, encoded ones
counting three, and then looks for the wrong file; `-r` carries paths as long as the system's.
"""

import re
from typing import Final
from urllib.parse import quote

_DROPPED: Final = re.compile(r"[^\x07-\x09\x0b-\x0d\x20-\x7e]")
_URL_CHARACTERS: Final = 511
_ROOM_FOR_FOLDERS: Final = 150
"""For the folders that the dataset is in, which a name begins below."""


def why_not(name: str) -> str:
    """Why a file's path arrives under another name or not at all; "" when it does arrive."""
    dropped = _DROPPED.search(name)
    if dropped:
        character = dropped.group()
        what = "letters beyond ASCII" if character > "\x7f" else "line ends and control characters"
        return f"the server drops {what} from names"
    if '"' in name:
        return "-r stops at a name with a double quote"
    if len(quote(name)) > _URL_CHARACTERS - _ROOM_FOR_FOLDERS:
        return "its path is too long for a list of files, as measuring needs it"
    return ""
