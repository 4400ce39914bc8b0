"""What the terminal interface costs: a table, in about six minutes; wants an idle machine.

    python -m tests.benchmarks.tui_bench [start] [drawing] [keys] [history] [memory] [same]

Everything is measured on the program as it is started by a user, in a pseudo-terminal of
120 × 40, but for `memory`, which feeds an hour of events to the screen without waiting an hour.
"""

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from tests.benchmarks.store_bench import fill

ROOT = Path(__file__).parents[2]
ADVISOR = [sys.executable, "-P", "-m", "advisor"]
COLUMNS, LINES = 120, 40
_FOLDERS = ("DATA", "STATE", "CACHE", "CONFIG")
ESCAPES = re.compile(rb"\x1b(\[[0-9;?<>=]*[a-zA-Z]|\][^\x07]*\x07|P[^\x1b]*\x1b\\|.)")


class Screen:
    """`advisor` in a pseudo-terminal: what it writes is counted and searched."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self.began_s = time.perf_counter()
        environment = os.environ | {
            "HOME": str(home),
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            **{
                f"XDG_{k}_HOME": str(home / k.lower()) for k in ("DATA", "STATE", "CACHE", "CONFIG")
            },
        }
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.execvpe(ADVISOR[0], [*ADVISOR, *arguments], environment)
        size = struct.pack("HHHH", LINES, COLUMNS, 0, 0)
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, size)
        self.process = psutil.Process(self.pid)
        self.written = bytearray()
        self.total_bytes = 0

    def read(self, seconds: float) -> bool:
        """Take what comes within this time; whether anything came."""
        ends_s = time.perf_counter() + seconds
        came = False
        while (left_s := ends_s - time.perf_counter()) > 0:
            ready, _, _ = select.select([self._terminal], [], [], left_s)
            if not ready:
                break
            data = os.read(self._terminal, 65536)
            self.total_bytes += len(data)
            self.written += data
            came = True
            if len(self.written) > 1_000_000:
                del self.written[:500_000]
            if seconds < 1:
                break
        return came

    def until(self, text: str, timeout_s: float = 60) -> float:
        """Seconds from the start until this text was written."""
        ends_s = time.perf_counter() + timeout_s
        while time.perf_counter() < ends_s:
            if text.encode() in ESCAPES.sub(b"", bytes(self.written)):
                return time.perf_counter() - self.began_s
            self.read(0.05)
        raise SystemExit(f"'{text}' did not appear")

    def press(self, keys: str) -> None:
        """As if typed."""
        os.write(self._terminal, keys.encode())

    def forget(self) -> None:
        """Look only at what is written from now on."""
        self.written.clear()

    def close(self) -> None:
        """End it."""
        with contextlib.suppress(ProcessLookupError, OSError):
            self.press("\x11")
            ends_s = time.perf_counter() + 8
            while self.process.is_running() and time.perf_counter() < ends_s:
                if self.process.status() == psutil.STATUS_ZOMBIE:
                    break
                self.read(0.1)
        with contextlib.suppress(ProcessLookupError, psutil.NoSuchProcess):
            self.process.kill()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
        os.close(self._terminal)


@contextlib.contextmanager
def screen(home: Path, *arguments: str) -> Iterator[Screen]:
    shown = Screen(home, *arguments)
    try:
        yield shown
    finally:
        shown.close()


def said(what: str, figure: str, wanted: str) -> None:
    print(f"| {what} | {figure} | {wanted} |", flush=True)


def start(home: Path) -> None:
    """The process from its start to the first screen."""
    times = []
    for _ in range(11):
        with screen(home) as shown:
            times.append(shown.until("All actions"))
    later = times[1:]
    said(
        "start to the first screen, after the first",
        f"median {statistics.median(later):.2f} s, most {max(later):.2f} s",
        "≤ 0.4 s",
    )


@contextlib.contextmanager
def profiling(home: Path, **entered: str) -> Iterator[Screen]:
    """A session, on the screen; on localhost, where nothing else was entered."""
    state = home / "state" / "advisor"
    state.mkdir(parents=True, exist_ok=True)
    draft = {"destination": "localhost", "budget": "60s"} | entered
    (state / "draft.json").write_text(json.dumps(draft))
    with screen(home, "--open", "history") as shown:
        shown.until("Profile now")
        shown.press("\x0e")
        shown.until("TCP")
        yield shown


def drawing(home: Path) -> None:
    """CPU of the screen's own process, and bytes to the terminal, while it profiles."""
    with profiling(home) as shown:
        shown.read(8)
        before, bytes_before, began_s = _cpu_s(shown), shown.total_bytes, time.perf_counter()
        shown.read(30)
        took_s = time.perf_counter() - began_s
        share = (_cpu_s(shown) - before) / took_s
        rate = (shown.total_bytes - bytes_before) / took_s
    said("drawing while it profiles, share of a core", f"{share:.1%}", "≤ 3 %")
    said("to the terminal meanwhile", f"{rate / 1000:.1f} kB/s", "≤ 60 kB/s")


def _cpu_s(shown: Screen) -> float:
    times = shown.process.cpu_times()
    return times.user + times.system


def keys(home: Path) -> None:
    """From a key to the first byte that answers it, while probes run."""
    with profiling(home) as shown:
        shown.read(8)
        waits = []
        for number in range(120):
            shown.read(0.05)
            while shown.read(0.02):  # Until nothing else is being drawn.
                pass
            # The help opens and closes: always something to draw.
            pressed_s = time.perf_counter()
            shown.press("\x1bOP" if number % 2 == 0 else "q")
            if shown.read(0.9):
                waits.append(time.perf_counter() - pressed_s)
            time.sleep(0.1)
    ordered = sorted(waits)
    said(
        f"a key's answer while a probe runs ({len(waits)} keys)",
        f"median {statistics.median(waits) * 1000:.0f} ms, "
        f"95th percentile {ordered[int(0.95 * len(ordered))] * 1000:.0f} ms",
        "≤ 50 ms",
    )


def history(home: Path) -> None:
    """100,000 probes: the program from its start to the list of sessions."""
    store = home / "data" / "advisor" / "history"
    fill(store, 100_000, pairs=100, intervals=20)
    times = []
    for _ in range(4):
        with screen(home, "--open", "review") as shown:
            times.append(shown.until("source0.example"))
    with screen(home) as shown:
        bare_s = shown.until("All actions")
    said(
        "a history of 100,000 probes opens (after the first time, beyond the start)",
        f"{statistics.median(times[1:]) - bare_s:.2f} s (first time {times[0] - bare_s:.2f} s)",
        "≤ 0.3 s",
    )


def memory(home: Path) -> None:
    """An hour of profiling, fed to the screen as quickly as it takes it."""
    program = ROOT / "tests" / "benchmarks" / "tui_hour.py"
    done = subprocess.run(
        [sys.executable, str(program)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=os.environ | {"HOME": str(home), "PYTHONPATH": str(ROOT)},
    )
    said("memory after an hour of profiling", done.stdout.strip(), "≤ 150 MB")


def same(home: Path) -> None:
    """The same session on an emulated path, with the screen and without, in turn."""
    from scipy.stats import t

    rates: dict[str, list[float]] = {"with": [], "without": []}
    lab = ["--rtt", "10ms", "--rate", "1Gbit"]
    subprocess.run([*ADVISOR, "lab", "up", "tuibench", *lab], check=True, capture_output=True)
    try:
        for number in range(6):
            for how in ("with", "without") if number % 2 else ("without", "with"):
                rates[how] += _default_bps(home, how)
    finally:
        subprocess.run([*ADVISOR, "lab", "down", "tuibench"], check=True, capture_output=True)
    differences = []
    for how, values in rates.items():
        mean = statistics.mean(values)
        half = float(t.ppf(0.95, len(values) - 1)) * statistics.stdev(values) / len(values) ** 0.5
        differences.append((mean, half))
        said(
            f"the default setting, {how} the screen ({len(values)} probes)",
            f"{mean / 1e6:.1f} ± {half / 1e6:.1f} Mbit/s (90 %)",
            "the same",
        )


def _default_bps(home: Path, how: str) -> list[float]:
    """The throughput of every probe of the default in one session."""
    store = Path(tempfile.mkdtemp(dir=home))
    session = ["--seed", "1", "--budget", "15", "--transports", "tcp", "--measure"]
    if how == "without":
        subprocess.run(
            [*ADVISOR, "advise", "lab:tuibench", *session, "--json", "--store", str(store)],
            check=True,
            capture_output=True,
        )
    else:
        (home / "config" / "advisor").mkdir(parents=True, exist_ok=True)
        (home / "config" / "advisor" / "config.toml").write_text(f'store = "{store}"\n')
        with profiling(home, destination="lab:tuibench", budget="15s", transports="tcp") as shown:
            shown.until("compares", 60)
        (home / "config" / "advisor" / "config.toml").unlink()
    rates = []
    for journal in store.rglob("journal.jsonl"):
        for line in journal.read_text().splitlines():
            with contextlib.suppress(ValueError):
                record = json.loads(line[line.index("{") :])
                if record.get("label") == "default":
                    rates.append(float(record["result"]["throughput_bps"]))
    return rates


ALL: dict[str, Callable[[Path], None]] = {
    "start": start,
    "drawing": drawing,
    "keys": keys,
    "history": history,
    "memory": memory,
    "same": same,
}


def main() -> None:
    print("| what | measured | wanted |\n|---|---|---|")
    for name in sys.argv[1:] or ALL:
        with tempfile.TemporaryDirectory() as home:
            ALL[name](Path(home))


if __name__ == "__main__":
    main()
