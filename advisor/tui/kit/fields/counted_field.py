"""A field for a path of this host that shows the number and size of the files there."""

from typing import Final

from textual.widgets import Input

from advisor.domain.quantities import format_bytes
from advisor.tui.kit.fields.scanned_field import ScannedField
from advisor.tui.kit.fields.scanning import Scan

_REDRAW_S: Final = 0.5


class CountedField(ScannedField):
    """The count is shown below it while the scan runs, and after it."""

    def on_mount(self) -> None:
        self.begin_scan()
        self.set_interval(_REDRAW_S, self._show_count)

    def on_input_changed(self, _: Input.Changed) -> None:
        """Runs in addition to those of its bases: Textual calls all."""
        self.hint("")

    def _show_count(self) -> None:
        """Show the number and size of the files counted so far."""
        # While the application closes, timers still run after the widgets are removed.
        if self.scan and self.is_mounted and self.app.is_running:
            self.hint(_count_words(self.scan))


def _count_words(scan: Scan) -> str:
    if scan.trouble:
        return f"✗ {scan.trouble}"
    found = scan.progress
    if found is None:
        return "… counting"
    words = f"{found.files:,} files, {format_bytes(found.total_bytes)}"
    return f"✓ {words}" if found.finished else f"… counting: {words} so far"
