"""Which scaling function λ of the buffer finds more: linear, as the paper, or powers of two.

Runs whole sessions to a destination, the same seeds with either scale, and compares the best
throughput that the search itself found with TCP and with UDT. Everything after `--` goes to
`advisor advise`:

    python tests/benchmarks/buffer_scale.py --seeds 4 -- localhost
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from typing import Any

SCALES = ("linear", "log2")


def best_found(scale: str, seed: int, arguments: list[str]) -> dict[str, float]:
    """The best throughput of each search stage, in bit/s."""
    with tempfile.TemporaryDirectory() as store:
        command = [
            *(sys.executable, "-m", "advisor", "advise", *arguments, "--json", "--measure"),
            *("--buffer-scale", scale, "--seed", str(seed), "--store", store),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    events: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    best: dict[str, float] = {}
    for event in events:
        if event["event"] == "probe_ended" and event["purpose"] == "search":
            bps = event["result"].get("throughput_bps", 0.0)
            best[event["stage"]] = max(best.get(event["stage"], 0.0), bps)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("arguments", nargs="+")
    options = parser.parse_args()
    found: dict[str, dict[str, list[float]]] = {}
    for seed in range(options.seeds):
        for scale in SCALES:
            for stage, bps in best_found(scale, seed, options.arguments).items():
                found.setdefault(stage, {}).setdefault(scale, []).append(bps / 1e6)
                print(f"seed {seed} {scale:7}{stage:10}{bps / 1e6:9.0f} Mbit/s", flush=True)
    for stage, scales in found.items():
        for scale, values in scales.items():
            print(
                f"{stage:10}{scale:7} median {statistics.median(values):8.0f} Mbit/s, "
                f"worst {min(values):8.0f}, n={len(values)}"
            )


if __name__ == "__main__":
    main()
