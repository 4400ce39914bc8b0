"""`python -m advisor` is the same command as `advisor`."""

from advisor.cli.start import main

main()
