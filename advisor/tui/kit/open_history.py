"""How screens read and write the history, from any thread."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from advisor.store.history import Store


class OpenHistory:
    """The one history of the program, with its reference profiles.

    A Store is for one thread at a time, and caches what it read: each thread borrows a free one, so
    the screens never wait while another thread reads a long history.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._free = [store]
        self._lock = threading.Lock()

    @contextmanager
    def store(self) -> Iterator[Store]:
        """A store for the calling thread, valid inside the block."""
        with self._lock:
            store = self._free.pop() if self._free else self._store.another()
        try:
            yield store
        finally:
            with self._lock:
                self._free.append(store)

    @property
    def argument(self) -> str:
        """A folder, or the address of a database, as `--store` takes it."""
        return self._store.argument

    @property
    def arguments(self) -> list[str]:
        """The arguments that make a command use the same history."""
        return ["--store", self.argument]
