"""Which paths xdd can open.

Found by sending them: spaces, quotes, line ends, `%`, `#`, backslashes, non-ASCII letters and bytes
that are not UTF-8 all arrive, since both ends get their path as a separate argument.
"""

import os
from typing import Final

_PATH_BYTES: Final = 2047
"""xdd copies a path into 2048 bytes without a check, and crashes on a longer one."""


def why_not(path: str) -> str:
    """Why xdd cannot open this path; "" when it can."""
    if len(os.fsencode(path)) > _PATH_BYTES:
        return f"its path is longer than the {_PATH_BYTES} bytes that xdd has room for"
    return ""
