"""A data transfer advisor: measures a path, recommends a transport, settings and commands."""

from typing import Final

__version__: Final = "0.1.0"
