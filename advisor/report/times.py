"""Times as text."""

import time


def local_time(unix_s: float) -> str:
    """A Unix time as `2026-03-01 12:00`, by this machine's clock."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(unix_s))


def utc_time(unix_s: float) -> str:
    """A Unix time as `2026-03-01 12:00 UTC`, for what is read elsewhere."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(unix_s))
