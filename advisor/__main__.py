"""`python -m advisor` is the same command as `advisor`."""

from advisor.cli.main import main

main()
