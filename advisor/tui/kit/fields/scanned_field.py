"""A field for a path of this host whose files are scanned in the background."""

from typing import Final

from textual import work
from textual.timer import Timer
from textual.widgets import Input

from advisor.tui.kit.fields.field import Field
from advisor.tui.kit.fields.scanning import Scan
from advisor.tui.kit.from_thread import draw_from_thread

AFTER_LAST_KEY_S: Final = 0.6
"""How long typing must pause before something slow is started."""


class ScannedField(Field):
    """`scan`: the current or last one of the present text; a new one starts after typing pauses."""

    scan: Scan | None = None
    _waiting: Timer | None = None

    def on_unmount(self) -> None:
        self.cancel_scan()

    def on_input_changed(self, _: Input.Changed) -> None:
        """Runs in addition to Field's handler: Textual calls both."""
        self.forget_scan()
        self.scan_soon()

    def scan_soon(self) -> None:
        """Scan after a pause in which this is not called again."""
        if self._waiting:
            self._waiting.stop()
        self._waiting = self.set_timer(AFTER_LAST_KEY_S, self.scan_if_needed)

    def scan_if_needed(self) -> None:
        """Scan, unless a subclass knows a reason not to."""
        self.begin_scan()

    def begin_scan(self) -> None:
        """Scan the present text, if it is a valid path."""
        if self.text and not self.problem:
            self.scan = Scan(self.text)
            self._run_scan(self.scan)

    def cancel_scan(self) -> None:
        """Stop scanning; what was counted is kept."""
        if self.scan:
            self.scan.give_up()

    def forget_scan(self) -> None:
        """Stop scanning, and drop what was counted."""
        self.cancel_scan()
        self.scan = None

    def take_scan(self, scan: Scan) -> None:
        """Called when the scan of the present text is over."""

    @work(thread=True, group="scan")
    def _run_scan(self, scan: Scan) -> None:
        scan.run()
        draw_from_thread(self, self._scan_over, scan)

    def _scan_over(self, scan: Scan) -> None:
        if scan is self.scan:
            self.take_scan(scan)
