"""A field for a path of this host that shows the number and size of the files there."""

from typing import Final

from textual import work
from textual.timer import Timer
from textual.widgets import Input

from advisor.domain.quantities import format_bytes
from advisor.tui.kit.field import Field
from advisor.tui.kit.scanning import Scan

_AFTER_LAST_KEY_S: Final = 0.6
_REDRAW_S: Final = 0.5


class CountedField(Field):
    """Files are counted in the background, again after typing pauses."""

    _scan: Scan | None = None
    _waiting: Timer | None = None

    def on_mount(self) -> None:
        self._begin_scan()
        self.set_interval(_REDRAW_S, self._say_count)

    def on_unmount(self) -> None:
        self._give_up()

    def on_input_changed(self, _: Input.Changed) -> None:
        """Runs in addition to Field's handler: Textual calls both."""
        self._give_up()
        self.hint("")
        if self._waiting:
            self._waiting.stop()
        self._waiting = self.set_timer(_AFTER_LAST_KEY_S, self._begin_scan)

    def _give_up(self) -> None:
        if self._scan:
            self._scan.give_up()
            self._scan = None

    def _begin_scan(self) -> None:
        if self.text and not self.problem:
            self._scan = Scan(self.text)
            self._run_scan(self._scan)

    @work(thread=True, group="scan")
    def _run_scan(self, scan: Scan) -> None:
        scan.run(lambda _: None)

    def _say_count(self) -> None:
        """Show the number and size of the files counted so far."""
        # While the application closes, timers still run after the widgets are removed.
        if self._scan and self.is_mounted and self.app.is_running:
            self.hint(_count_words(self._scan))


def _count_words(scan: Scan) -> str:
    if scan.trouble:
        return f"✗ {scan.trouble}"
    found = scan.progress
    if found is None:
        return "… counting"
    words = f"{found.files:,} files, {format_bytes(found.total_bytes)}"
    return f"✓ {words}" if found.finished else f"… counting: {words} so far"
