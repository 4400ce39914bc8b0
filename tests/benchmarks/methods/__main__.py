"""`python -m tests.benchmarks.methods`."""

from tests.benchmarks.methods.bench import main

main()
