"""Records runs on lab paths into a file; what is there already is not run again.

    python -m tests.benchmarks.probes.recording FILE [--every] [--paths N]

`--paths`: how many paths at most, for a machine that is shared. Exits with 1 when nothing is left.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from tests.benchmarks.probes.recordings import Order, Recording, orders, recorded

_ROOT: Final = Path(__file__).resolve().parents[3]
_NAME: Final = "probes"
_RATE: Final = "500Mbit"


def _advisor(*words: str) -> list[str]:
    return [sys.executable, "-P", "-m", "advisor", "lab", *words]


@contextlib.contextmanager
def _lab(first: Order, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """The recorder on the source of a lab with this path."""
    up = ["up", _NAME, "--rtt", f"{first.rtt_ms}ms", "--rate", _RATE, "--mtu", "1500"]
    if first.loss != "0":
        up += ["--loss", first.loss]
    inside = [sys.executable, "-m", "tests.benchmarks.probes.inside", f"lab:{_NAME}"]
    try:
        subprocess.run(_advisor(*up), env=environment, cwd=_ROOT, check=True, capture_output=True)
        with subprocess.Popen(
            _advisor("exec", _NAME, "--host", "source", "--", *inside),
            env=environment,
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as process:
            yield process
            assert process.stdin is not None
            process.stdin.close()
    finally:
        subprocess.run(_advisor("down", _NAME), env=environment, cwd=_ROOT, check=False)


def _record(path: list[Order], environment: dict[str, str]) -> Iterator[Recording]:
    with _lab(path[0], environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for order in path:
            process.stdin.write(msgspec.json.encode(order) + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
            if not line:
                raise SystemExit("the recorder in the lab ended")
            yield msgspec.json.decode(line, type=Recording)


def record(kept: Path, every: bool, most_paths: int) -> int:
    """Run what the file does not have yet; the number of paths."""
    done = {one.order.key for one in recorded(kept)}
    paths = ([order for order in path if order.key not in done] for path in orders(every))
    missing = [path for path in paths if path][:most_paths]
    with tempfile.TemporaryDirectory(prefix="labs") as folder, kept.open("ab") as file:
        environment = os.environ | {
            "ADVISOR_RUNTIME_DIR": str(Path(folder, "advisor")),
            "PYTHONPATH": str(_ROOT),
        }
        for path in missing:
            for recording in _record(path, environment):
                file.write(msgspec.json.encode(recording) + b"\n")
                file.flush()
                print(recording.order, recording.failed or "recorded", flush=True)
    return len(missing)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--paths", type=int, default=sys.maxsize)
    options = parser.parse_args()
    if not record(options.file, options.every, options.paths):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
