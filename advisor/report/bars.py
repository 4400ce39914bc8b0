"""Lines on a stream, with progress bars below them on a terminal."""

from types import TracebackType
from typing import Any, Self, TextIO

from advisor.domain.printable import printable_lines
from advisor.report.output import transient_bar


class LinesAndBars:
    """Prints lines; between `_start_bars` and `finish` they appear above the bars."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._progress: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.finish()

    def _start_bars(self, *columns: Any) -> None:
        """Start bars with these columns, as for `rich.progress.Progress`."""
        self._progress = transient_bar(self._stream, *columns)
        self._progress.start()

    def _say(self, line: str) -> None:
        line = printable_lines(line)
        if self._progress is not None:
            self._progress.console.print(line)
        else:
            self._stream.write(line + "\n")
            self._stream.flush()

    def finish(self) -> None:
        """Remove the bars."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
