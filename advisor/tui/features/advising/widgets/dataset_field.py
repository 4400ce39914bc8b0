"""The field for the path of the dataset, with the progress of its scan."""

from advisor.domain.dataset import Dataset
from advisor.domain.quantities import format_bytes
from advisor.hosts.datasets import ScanProgress
from advisor.tui.features.advising.draft import Draft
from advisor.tui.kit.fields.paths import existing_path
from advisor.tui.kit.fields.scanned_field import ScannedField
from advisor.tui.kit.fields.scanning import Scan
from advisor.tui.kit.fields.suggestions import PathSuggester


class DatasetField(ScannedField):
    """Its scan becomes `scanned` of the draft; it is needed only where the draft says "data"."""

    def __init__(self, draft: Draft) -> None:
        super().__init__(
            "Path",
            "data",
            draft,
            check=existing_path,
            example="/data/run7",
            explained="A directory or a file on this host. It is counted in the background.",
            suggester=PathSuggester(),
        )
        self._entered = draft

    @property
    def is_scanning(self) -> bool:
        """Whether a scan is running."""
        return self.scan is not None and not self.scan.is_over

    @property
    def progress(self) -> ScanProgress | None:
        """What was counted so far."""
        return self.scan.progress if self.scan else None

    def scan_if_needed(self) -> None:
        if self._entered.what == "data" and not self._entered.scanned and not self.scan:
            self.begin_scan()
            self.post_message(self.Changed(self))

    def scan_again(self) -> None:
        """Scan from the beginning."""
        self.forget_scan()
        self.begin_scan()

    def forget_scan(self) -> None:
        super().forget_scan()
        self._entered.scanned = None

    def take_scan(self, scan: Scan) -> None:
        if scan.progress and scan.progress.finished:
            try:
                self._entered.scanned = scan.progress.dataset()
            except ValueError as error:
                scan.trouble = str(error)
        self.post_message(self.Changed(self))

    @property
    def scan_words(self) -> str:
        """The progress of the scan, or its result; "" before it."""
        if kept := self._entered.scanned:
            return f"✓ {_counted(kept)}"
        scan, found = self.scan, self.progress
        if scan is None:
            return ""
        if scan.trouble:
            return f"✗ {scan.trouble}"
        counted = f"{found.files:,} files, {size_words(found.total_bytes)}" if found else ""
        if scan.was_given_up:
            return f"✗ given up at {counted or 'nothing yet'}: F4 scans again, or enter the size"
        return f"… counting: {counted or 'nothing yet'} so far (F4 cancels)"


def _counted(kept: Dataset) -> str:
    unread = f", {kept.unreadable:,} could not be read" if kept.unreadable else ""
    return f"{kept.files or 0:,} files, {size_words(kept.total_bytes)}{unread}"


def size_words(total_bytes: int) -> str:
    """A size; also that of an empty file."""
    return format_bytes(total_bytes) if total_bytes else "0 B"
