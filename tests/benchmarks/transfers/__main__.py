"""`python -m tests.benchmarks.transfers`."""

from tests.benchmarks.transfers.bench import main

main()
