"""The history as the screens' threads read it: one at a time, and quicker when asked again."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from advisor.store.history import Store


class Listing:
    """A store of its own beside the screens', which is for their own thread alone."""

    def __init__(self, store: Store) -> None:
        self._store = Store(store.directory)
        self._reading = threading.Lock()

    @contextmanager
    def store(self) -> Iterator[Store]:
        """The store, for as long as the block lasts."""
        with self._reading:
            yield self._store
