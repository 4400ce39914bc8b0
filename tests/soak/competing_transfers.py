"""Transfers that are killed at random moments and resumed, while others want the same target.

    python -m tests.soak.competing_transfers                     1,000 transfers: an hour
    python -m tests.soak.competing_transfers --transfers 20 --seed 4

Each moves made-up files with `advisor transfer` over a GridFTP server on this host. `kill -9` hits
the advisor, all of its processes, the server's connections, or the server, which is then started
again. In every third, a second user moves other files of the same names to the same target: at the
same time or while the first is down, with or without --overwrite and --take-over. What has to be
true: exit code 0 means that the target has the content of that source, whatever happened before;
and each transfer comes to such an end when it is left alone. Exit code 1 where something is wrong.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Final

import psutil
from rich.console import Console

from tests.soak.gridftp import KillableServer
from tests.soak.runs import kill

_SIZES: Final = (0, 1, 900, 40_000, 300_000)
_FILES: Final = 30
_LARGE_BYTES: Final = 9_000_000
_LONGEST_S: Final = 120.0
_RUNS: Final = 4
"""Runs that a transfer may take to its end when nothing disturbs it any more."""

_FLAGS: Final = ((), ("--overwrite",), ("--take-over", "--overwrite"))


class User:
    """One who moves files to the target, with folders of their own."""

    def __init__(self, base: Path, rng: Random) -> None:
        self.source = base / "source"
        self._home = base / "home"
        self._home.mkdir(parents=True)
        for number in range(_FILES):
            file = self.source / f"d{number % 3}" / f"{number}.dat"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(rng.randbytes(rng.choice(_SIZES)))
        (self.source / "large.dat").write_bytes(rng.randbytes(_LARGE_BYTES))

    def begin(self, target: Path, url: str, *flags: str) -> subprocess.Popen[bytes]:
        """Start to move the files."""
        words = ["transfer", str(self.source), "localhost", "--to", str(target), "--server", url]
        words += ["--method", "fixed", "--start", "3x2", "--epoch", "1s", "--max-rate", "50Mbit"]
        words += ["--bandwidth", "1Gbit", "--rtt", "5ms", "--retry-time", "1s", "--json", *flags]
        environment = {
            "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin",
            "HOME": str(self._home),
            "XDG_RUNTIME_DIR": str(self._home),
            "TMPDIR": str(self._home),
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        }
        with (self._home / "events").open("wb") as events:
            return subprocess.Popen(
                [sys.executable, "-P", "-m", "advisor", *words],
                stdin=subprocess.DEVNULL,
                stdout=events,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )

    def said_last(self) -> str:
        """The end of what its last run said."""
        return (self._home / "events").read_text(errors="replace")[-600:]

    def wrong(self, target: Path) -> str:
        """What of the source is not at the target, "" if all is."""
        for file in sorted(self.source.rglob("*.dat")):
            there = target / file.relative_to(self.source)
            if not there.is_file() or there.read_bytes() != file.read_bytes():
                return f"{there} is not what was moved"
        return ""


class Contest:
    """All transfers of one run of this program. `wrong`: what must not have happened."""

    def __init__(self, base: Path, server: KillableServer, rng: Random) -> None:
        self._server = server
        self._rng = rng
        self._first, self._second = User(base / "first", rng), User(base / "second", rng)
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []

    def one(self, number: int) -> None:
        """One transfer, from its first run to its end."""
        target = self._server.folder / f"target {number}"
        competes = number % 3 == 0
        for _ in range(self._rng.choice((1, 1, 2))):
            run = self._first.begin(target, self._server.url)
            other = None
            if competes and self._rng.random() < 0.5:
                time.sleep(self._rng.uniform(0, 2))
                other = self._compete(target)
            self._kill_after(run, self._rng.uniform(0.3, 3.5))
            if other is not None:
                self._end(self._second, other, target)
            elif competes:
                self._end(self._second, self._compete(target), target)
        self._finish(target)
        shutil.rmtree(target, ignore_errors=True)
        self.counts["transfers"] += 1

    def _compete(self, target: Path) -> subprocess.Popen[bytes]:
        self.counts["competitors"] += 1
        return self._second.begin(target, self._server.url, *self._rng.choice(_FLAGS))

    def _kill_after(self, run: subprocess.Popen[bytes], seconds: float) -> None:
        time.sleep(seconds)
        if run.poll() is None:
            victim = self._rng.choice(("advisor", "advisor", "all", "connections", "server"))
            self.counts[f"killed: {victim}"] += 1
            match victim:
                case "connections":
                    self._server.kill_connections()
                case "server":
                    self._server.kill()
                    self._server.start()
                case "all":
                    kill(psutil.Process(run.pid).children(recursive=True))
            if victim in ("advisor", "all"):
                run.kill()
        self._end(self._first, run, None)

    def _end(self, user: User, run: subprocess.Popen[bytes], target: Path | None) -> None:
        """Wait for a run; check what it claims, if nobody else can have written since."""
        try:
            status = run.wait(_LONGEST_S)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
            self.wrong.append(f"a run did not end: {user.said_last()}")
            return
        self.counts[f"exit code {status}"] += 1
        if status == 0 and target is not None and (wrong := user.wrong(target)):
            self.wrong.append(f"exit code 0, but {wrong}")
        if "Traceback" in user.said_last():
            self.wrong.append(user.said_last())

    def _finish(self, target: Path) -> None:
        """The first user comes to a good end, taking over what the second may have left."""
        for _ in range(_RUNS):
            run = self._first.begin(target, self._server.url, "--take-over", "--overwrite")
            self._end(self._first, run, target)
            if run.returncode == 0:
                return
        self.wrong.append(f"it came to no good end: {self._first.said_last()}")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--transfers", type=int, default=1000, help="[1000]")
    parser.add_argument("--seed", type=int, default=0, help="of files, flags and moments [0]")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    base = Path(tempfile.mkdtemp(prefix="soak-"))
    # The server's account has to get through.
    base.chmod(0o711)
    (base / "server").mkdir()
    began_s = time.monotonic()
    console = Console(highlight=False, soft_wrap=True)
    try:
        with KillableServer(base / "server") as server:
            contest = Contest(base, server, Random(options.seed))
            for number in range(options.transfers):
                contest.one(number)
                if contest.wrong:
                    break
                if number % 25 == 24:
                    console.print(f"{number + 1} transfers, nothing wrong")
    finally:
        shutil.rmtree(base, ignore_errors=True)
    for name, count in sorted(contest.counts.items()):
        console.print(f"{name}: {count}")
    console.print(f"{time.monotonic() - began_s:.0f} s")
    if contest.wrong:
        sys.exit("\n".join(contest.wrong))


if __name__ == "__main__":
    main()
