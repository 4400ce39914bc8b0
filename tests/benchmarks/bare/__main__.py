"""`python -m tests.benchmarks.bare`."""

from tests.benchmarks.bare.bench import main

main()
