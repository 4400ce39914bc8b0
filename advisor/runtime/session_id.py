"""Session ids: `20261122T074920Z-d28598`, the UTC time of the start and a random suffix."""

import secrets
import time


def new_session_id() -> str:
    """A new id. Ids sort by start time; two sessions started in the same second differ."""
    return f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{secrets.token_hex(3)}"
