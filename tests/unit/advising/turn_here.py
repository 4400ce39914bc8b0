"""The turn to measure on this host, as another process finds it."""

from advisor.agent.turn import Turn


def is_free() -> bool:
    """Whether somebody else could measure here now."""
    other = Turn()
    try:
        return other.take_back()
    finally:
        other.lend()
