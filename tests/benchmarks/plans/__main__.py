"""`python -m tests.benchmarks.plans`."""

from tests.benchmarks.plans.bench import main

main()
