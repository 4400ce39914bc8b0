"""Text and names of files are UTF-8, whatever the locale says, as they are from Python 3.15 on."""

import os
import sys


def use_utf8() -> None:
    """Restart this program in Python's UTF-8 mode, unless it uses UTF-8 already.

    In another encoding a name of a file would be another one for the host at the other end, and
    what is printed could not always be written.
    """
    if sys.getfilesystemencoding() == "utf-8":
        return
    from advisor.hosts.processes import replace_by

    # For the programs of ours that this one starts.
    os.environ["PYTHONUTF8"] = "1"
    replace_by([sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
