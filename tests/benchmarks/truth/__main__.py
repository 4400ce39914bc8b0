"""`python -m tests.benchmarks.truth`."""

from tests.benchmarks.truth.bench import main

main()
