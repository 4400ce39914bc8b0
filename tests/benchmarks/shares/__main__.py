"""`python -m tests.benchmarks.shares`."""

from tests.benchmarks.shares.bench import main

main()
