"""`python -m tests.benchmarks.pushed`."""

from tests.benchmarks.pushed.bench import main

main()
