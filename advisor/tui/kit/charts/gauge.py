"""A share as a bar of characters. Pure."""


def gauge(share: float, cells: int = 12) -> str:
    """A bar of this many cells; the share is clipped to 0 to 1."""
    full = round(min(1.0, max(0.0, share)) * cells)
    return "█" * full + "░" * (cells - full)


def progress(done: float, total: float, cells: int) -> str:
    """A bar of this many cells and the percentage; empty where `total` is zero."""
    share = done / total if total else 0.0
    return f"{gauge(share, cells)} {share:4.0%}"
