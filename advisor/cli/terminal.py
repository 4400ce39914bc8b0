"""What the terminal is like that the answer goes to."""

import shutil
import sys

from advisor.report.text import PLAIN_COLUMNS


def stdout_columns() -> int:
    """How wide text may be: the terminal's width, or that of plain text where there is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else PLAIN_COLUMNS
