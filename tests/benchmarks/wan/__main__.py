"""`python -m tests.benchmarks.wan`."""

from tests.benchmarks.wan.bench import main

main()
