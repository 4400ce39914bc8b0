"""`python -m advisor` is the same command as `advisor`."""

import sys

try:
    from advisor.cli.main import main
except KeyboardInterrupt:  # Ctrl-C while the program is still being read.
    sys.exit(130)

main()
