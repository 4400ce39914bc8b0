"""The cost of the terminal interface: a table, in about six minutes; needs an idle machine.

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
MODEST = ("--rtt", "20ms", "--rate", "200Mbit")
# The help opens and closes, the focus moves on: always something to draw.
_PRESSED = ("\x1bOP", "q", "\t", "\t")
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


@contextlib.contextmanager
def lab(*options: str) -> Iterator[str]:
    """An emulated path, as a destination."""
    subprocess.run([*ADVISOR, "lab", "up", "tuibench", *options], check=True, capture_output=True)
    try:
        yield "lab:tuibench"
    finally:
        subprocess.run([*ADVISOR, "lab", "down", "tuibench"], check=True, capture_output=True)


def drawing(home: Path) -> None:
    """CPU of the screen's own process, and bytes to the terminal, while it profiles."""
    with lab(*MODEST) as destination:
        _drawing(home, destination)
    _drawing(home, "localhost")


def _drawing(home: Path, destination: str) -> None:
    with profiling(home, destination=destination) as shown:
        shown.read(8)
        before, bytes_before, began_s = _cpu_s(shown), shown.total_bytes, time.perf_counter()
        shown.read(30)
        took_s = time.perf_counter() - began_s
        share = (_cpu_s(shown) - before) / took_s
        rate = (shown.total_bytes - bytes_before) / took_s
    said(f"drawing while it profiles {destination}, share of a core", f"{share:.1%}", "≤ 3 %")
    said("to the terminal meanwhile", f"{rate / 1000:.1f} kB/s", "≤ 60 kB/s")


def _cpu_s(shown: Screen) -> float:
    times = shown.process.cpu_times()
    return times.user + times.system


def keys(home: Path) -> None:
    """From a key to the first byte that answers it, while probes run."""
    with lab(*MODEST) as destination:
        _keys(home, destination)
    # Here sender and receiver fill both cores, which the screen has to share.
    _keys(home, "localhost")


def _keys(home: Path, destination: str) -> None:
    with profiling(home, destination=destination) as shown:
        shown.read(8)
        waits = []
        for number in range(80):
            shown.read(0.05)
            while shown.read(0.02):  # Until nothing else is being drawn.
                pass
            pressed_s = time.perf_counter()
            shown.press(_PRESSED[number % len(_PRESSED)])
            if shown.read(0.9):
                waits.append(time.perf_counter() - pressed_s)
            time.sleep(0.4)  # As quick as one presses keys that one means.
    ordered = sorted(waits)
    said(
        f"a key's answer while {destination} is profiled ({len(waits)} keys)",
        f"median {statistics.median(waits) * 1000:.0f} ms, "
        f"95th percentile {ordered[int(0.95 * len(ordered))] * 1000:.0f} ms",
        "≤ 50 ms",
    )


def history(home: Path) -> None:
    """100,000 probes: from the key on the home screen to the list of sessions."""
    store = home / "data" / "advisor" / "history"
    fill(store, 100_000, pairs=100, intervals=20)
    times = []
    for _ in range(4):
        with screen(home) as shown:
            shown.until("source99")
            shown.read(2)
            shown.forget()
            pressed_s = time.perf_counter() - shown.began_s
            shown.press("v")
            times.append(shown.until("planned") - pressed_s)
    said(
        "the sessions of a history of 100,000 probes, from the key to the list",
        f"{statistics.median(times[1:]):.2f} s (first time ever {times[0]:.2f} s)",
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
    with lab("--rtt", "10ms", "--rate", "1Gbit"):
        for number in range(6):
            for how in ("with", "without") if number % 2 else ("without", "with"):
                rates[how] += _default_bps(home, how)
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
