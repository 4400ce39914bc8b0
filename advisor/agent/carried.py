"""`python -m advisor.agent.carried [FIRST LAST]`: the agent that an advisor has brought over ssh.

It serves on standard input and output as `advisor agent --stdio` does, and leaves nothing behind:
neither a lock file nor a key for receipts is created. FIRST and LAST bound the ports for data.
"""

import asyncio
import sys

from advisor.agent.stdio import NoChannel, serve_stdio


def main() -> int:
    """Serve until the advisor leaves; returns the exit code."""
    first, last = (int(word) for word in sys.argv[1:3] or ("0", "0"))
    try:
        asyncio.run(serve_stdio((first, last), leaves_nothing=True))
    except NoChannel as error:
        sys.stderr.write(f"advisor: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
