"""What happens to an unattended site: drawn at random, always mended again."""

import heapq
import itertools
import time
from collections import Counter
from collections.abc import Callable

import numpy as np

from tests.benchmarks.fleet.unattended.site import Site

_PAUSE_S = (15.0, 60.0)
_LEAST_HOSTS = 3


class Troubles:
    """`happened`: how often what was done. Call `step` all the time, and `mend` in the end."""

    def __init__(self, site: Site, seed: int) -> None:
        self.happened: Counter[str] = Counter()
        self._site = site
        self._rng = np.random.default_rng(seed)
        self._numbers = itertools.count()
        self._to_mend: list[tuple[float, int, str, Callable[[], None]]] = []
        self._hand: list[Callable[[], bool]] = []
        self._next_s = time.monotonic() + self._between(*_PAUSE_S)

    def step(self) -> None:
        """Mend what is due, and do the next harm if it is time for it."""
        now_s = time.monotonic()
        while self._to_mend and self._to_mend[0][0] <= now_s:
            heapq.heappop(self._to_mend)[3]()
        if now_s >= self._next_s:
            self._next_s = now_s + self._between(*_PAUSE_S)
            self._harm()

    def mend(self) -> None:
        """Mend everything."""
        while self._to_mend:
            heapq.heappop(self._to_mend)[3]()
        self._site.have_database()

    def _between(self, least: float, most: float) -> float:
        return float(self._rng.uniform(least, most))

    def _mend_later(self, what: str, least_s: float, most_s: float, do: Callable[[], None]) -> None:
        at_s = time.monotonic() + self._between(least_s, most_s)
        heapq.heappush(self._to_mend, (at_s, next(self._numbers), what, do))

    def _harm(self) -> None:
        """The next of a hand of all of them, some twice or more, so that each has its share.

        One that is not possible now comes later.
        """
        if not self._hand:
            hand = [
                *[self._kill_worker] * 3,
                *[self._kill_database] * 2,
                *[self._take_host_down] * 3,
                self._fill_database,
                self._fill_spool,
            ]
            self._hand = [hand[int(n)] for n in self._rng.permutation(len(hand))]
        harm = self._hand.pop()
        if not harm():
            self._hand.insert(0, harm)

    def _suffers(self, what: str) -> bool:
        return any(one[2] == what for one in self._to_mend)

    def _kill_worker(self) -> bool:
        if not self._site.workers:
            return False
        self.happened["a worker was killed with kill -9"] += 1
        self._site.kill_worker(int(self._rng.integers(len(self._site.workers))))
        self._mend_later("worker", 2, 15, self._site.start_worker)
        return True

    def _kill_database(self) -> bool:
        if self._suffers("database"):
            return False
        self.happened["all processes of PostgreSQL were killed with kill -9"] += 1
        self._site.server.kill()
        self._mend_later("database", 2, 25, self._site.have_database)
        return True

    def _take_host_down(self) -> bool:
        down = [one[2] for one in self._to_mend if one[2] in self._site.hosts]
        up = [host for host in self._site.hosts if host not in down]
        if len(up) < _LEAST_HOSTS:
            return False
        self.happened["a host was cut off from the network"] += 1
        host = str(self._rng.choice(up))
        self._site.cut(host, on=True)
        self._mend_later(host, 15, 75, lambda: self._site.cut(host, on=False))
        return True

    def _fill_database(self) -> bool:
        if self._suffers("database"):
            return False
        self.happened["the disk of the database was full"] += 1
        self._site.disk.fill()

        def mend() -> None:
            self._site.disk.empty()
            self._site.have_database()

        self._mend_later("database", 10, 30, mend)
        return True

    def _fill_spool(self) -> bool:
        """Full where records wait, while the database is away: nothing can be acknowledged."""
        if self._suffers("database"):
            return False
        self.happened["PostgreSQL was killed, and the disk of the spool was full"] += 1
        self._site.spool_disk.fill()
        self._site.server.kill()

        def mend() -> None:
            self._site.spool_disk.empty()
            self._site.have_database()

        self._mend_later("database", 5, 20, mend)
        return True
