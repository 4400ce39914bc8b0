"""A histogram of file sizes in four classes."""

from collections.abc import Sequence
from typing import Final

from rich.table import Table
from rich.text import Text

from advisor.domain.quantities import format_bytes
from advisor.models.file_classes import BELOW_BDP, FileClass, Size
from advisor.tui.kit.static import Static

_BAR: Final = 24
_LOWER: Final = dict(zip(list(Size)[1:], list(BELOW_BDP.values()), strict=False))


class FileHistogram(Static, can_focus=False):
    """One row per class: its bounds, number of files, total size, and share of the bytes."""

    HELP = (
        "[b]Sizes of files[/b]\nTiny, small, medium and large are relative to the "
        "bandwidth-delay product of the path: rate × round-trip time. Each class has other "
        "needs: many tiny files wait for round trips, a large one for a single stream."
    )
    DEFAULT_CSS = "FileHistogram { height: auto; margin-top: 1; }"

    def show(self, classes: Sequence[FileClass], bdp_bytes: float) -> None:
        """Draw these; `bdp_bytes`: the bandwidth-delay product that defines the classes."""
        self.display = bool(classes)
        by_size = {found.size: found for found in classes}
        total_bytes = sum(found.total_bytes for found in classes)
        grid = Table.grid(padding=(0, 2), expand=False)
        for size in Size:
            found = by_size.get(size)
            grid.add_row(
                Text(size.value, "bold" if found else "dim"),
                Text(_bounds(size, bdp_bytes), "dim"),
                Text(f"{found.files:,} files" if found else "none", "" if found else "dim"),
                Text(format_bytes(found.total_bytes) if found else "", justify="right"),
                Text(_bar(found.total_bytes / max(1, total_bytes)) if found else ""),
            )
        words = Table.grid()
        words.add_row(grid)
        for found in classes:
            words.add_row(Text(f"\n{found.size.value.capitalize()}: {found.meaning}"))
        self.update(words)


def _bounds(size: Size, bdp_bytes: float) -> str:
    below = BELOW_BDP[size] * bdp_bytes
    lower = _LOWER.get(size, 0.0) * bdp_bytes
    if size is Size.LARGE:
        return f"from {format_bytes(lower)}"
    return f"below {format_bytes(below)}"


def _bar(share: float) -> str:
    """A bar of a share from 0 to 1; a share above zero has at least one mark."""
    return "█" * max(1, round(share * _BAR)) + f" {share:.0%}"
