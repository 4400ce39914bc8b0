"""`python -m tests.benchmarks.disk`."""

from tests.benchmarks.disk.bench import main

main()
