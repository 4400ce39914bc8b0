"""A shell inside the lab."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from tests.benchmarks.disk.files import difference, remove
from tests.benchmarks.disk.inside import Ended, LineOrder
from tests.benchmarks.wan.hosts import Trouble

_TIMEOUT_S = 600.0
CUT = "cut"


class Shell:
    """Runs lines there that move `data` to `target`, on a path with this round-trip time.

    `clear`: removes what is at the target.
    """

    def __init__(
        self,
        process: subprocess.Popen[str],
        data: Path,
        target: Path,
        rtt_s: float,
        clear: Callable[[Path], None] = remove,
    ) -> None:
        self._process = process
        self._data = data
        self._target = target
        self._rtt_s = rtt_s
        self._clear = clear

    def run(self, line: str, ceiling_s: float = _TIMEOUT_S) -> tuple[float, str]:
        """How long the line took, with nothing at its target before, in seconds.

        And why that does not count: it failed, was `CUT`, or the files are not the same; or "".
        """
        self._clear(self._target)
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin
        assert stdout
        stdin.write(msgspec.json.encode(LineOrder(line, ceiling_s)).decode() + "\n")
        stdin.flush()
        answer = stdout.readline()
        if not answer:
            raise Trouble("the shell inside the lab ended")
        ended = msgspec.json.decode(answer, type=Ended)
        if ended.status is None:
            # What is under way arrives all the same, and the server has to notice.
            time.sleep(1.0 + 4 * self._rtt_s)
        return ended.seconds, self._trouble(ended)

    def _trouble(self, ended: Ended) -> str:
        if ended.status is None:
            return CUT
        if ended.status:
            words = ended.said.strip().splitlines()
            return f"status {ended.status}: {words[-1] if words else 'it printed nothing'}"
        return difference(self._data, self._target)
