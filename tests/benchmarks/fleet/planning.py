"""What one decision of the planner costs, for meshes of more and more hosts.

python -m tests.benchmarks.fleet.planning [MEASUREMENTS]
"""

import heapq
import sys
import time

import numpy as np

from advisor.fleet.configuration.reading import decoded
from advisor.fleet.configuration.resolving import resolved
from advisor.fleet.plan.planner import Planner
from advisor.fleet.plan.turns import Result, Turn, Wait
from tests.benchmarks.fleet.mesh import fleet_toml

SITES = 20
WORKERS = 64


def cost_s(hosts: int, measurements: int) -> tuple[float, float]:
    """CPU seconds to begin a planner, and then for each measurement, from `next` to `finished`."""
    fleet = resolved(decoded(fleet_toml(hosts, SITES).encode()))
    rng = np.random.default_rng(1)
    before = time.process_time()
    planner = Planner(fleet, 0.0, rng)
    built = time.process_time()
    now_s, done, begun = 0.0, 0, 0
    running: list[tuple[float, int, Turn]] = []
    while done < measurements:
        free = len(running) < WORKERS
        found = planner.next(now_s) if free else Wait(float("inf"))
        if isinstance(found, Turn):
            begun += 1
            heapq.heappush(running, (now_s + 20 + 20 * rng.random(), begun, found))
        elif running and running[0][0] <= found.until_s:
            now_s, _, turn = heapq.heappop(running)
            result = Result(turn.most_bytes / 2, 1e9 * (1 + rng.random()), 0.05)
            planner.finished(turn, result, now_s)
            done += 1
        else:
            now_s = found.until_s
    return built - before, (time.process_time() - built) / measurements


def main() -> None:
    """Print the table."""
    measurements = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    print("| hosts | pairs | to begin | one measurement |")
    print("|---|---|---|---|")
    for hosts in (100, 250, 500, 1000, 2000):
        begin_s, each_s = cost_s(hosts, measurements)
        pairs = hosts * (hosts - 1)
        print(f"| {hosts:,} | {pairs:,} | {begin_s:.2f} s | {each_s * 1e6:.0f} µs |", flush=True)


if __name__ == "__main__":
    main()
