"""The exit codes of sessions. They are part of the command line's interface."""

from typing import Final

EXIT_DONE: Final = 0
"""Advice was given, or everything arrived."""

EXIT_FAILED: Final = 1
"""Nothing usable was measured, or not everything arrived."""

EXIT_USAGE: Final = 2
"""The request cannot be met as it stands."""

EXIT_PEER: Final = 3
"""The destination cannot be reached, or the connection to it was lost."""

EXIT_CHANGED: Final = 4
"""`advisor fleet changes` found some: what a monitor asks for."""

EXIT_INTERRUPTED: Final = 130
"""The user stopped the session (128 + SIGINT, as shells report it)."""
