"""What the report on a large fleet takes: time, memory and size of the file.

    python -m tests.benchmarks.fleet.report 200

fills a database with a mesh of the given number of hosts, each pair measured 16 times, and writes
the report three times. Needs two gigabytes of disk for 200 hosts.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.fleet_history import Filling
from tests.postgres_server import shared_database, temporary_server

_RESULTS = 16


def main(number: int) -> None:
    """Print the time of each of three reports, then memory and size."""
    with temporary_server() as server, tempfile.TemporaryDirectory() as folder:
        database = shared_database(server)
        hosts = [f"dtn{n:03}" for n in range(number)]
        Filling(hosts, _RESULTS, time.time()).write(database)
        file = Path(folder) / "fleet.html"
        words = ["--overwrite", "--store", database.address("rita")]
        for _ in range(3):
            began_s = time.monotonic()
            subprocess.run(
                [sys.executable, "-m", "advisor", "fleet", "report", str(file), *words], check=True
            )
            print(f"{time.monotonic() - began_s:.1f} s")
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        print(f"{file.stat().st_size / 1e6:.1f} MB, {most / 1024:.0f} MiB of memory at most")


if __name__ == "__main__":
    main(int(sys.argv[1]))
