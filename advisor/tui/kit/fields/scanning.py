"""A scan of the files to move, in a thread, with progress, which can be cancelled."""

import threading
from pathlib import Path
from typing import Final

from advisor.hosts.datasets import ScanProgress, scanning

_EVERY_NAMES: Final = 500


class Scan:
    """`run` it in a thread. `progress`: the newest count. `trouble`: a sentence if it failed."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.progress: ScanProgress | None = None
        self.trouble = ""
        self.is_over = False
        self._given_up = threading.Event()

    @property
    def was_given_up(self) -> bool:
        """Whether the user cancelled it."""
        return self._given_up.is_set()

    def give_up(self) -> None:
        """Cancel it: it stops within a few hundred more names."""
        self._given_up.set()

    def run(self) -> None:
        """Scan to the end, or until it is cancelled."""
        try:
            for found in scanning(Path(self.path).expanduser(), every=_EVERY_NAMES):
                self.progress = found
                if self.was_given_up:
                    break
        except OSError as error:
            self.trouble = f"{error.strerror or error}: {self.path}"
        except ValueError as error:
            self.trouble = str(error)
        self.is_over = True
