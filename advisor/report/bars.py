"""Lines on a stream, with progress bars below them on a terminal."""

from types import TracebackType
from typing import Any, Self, TextIO


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
        from rich.console import Console
        from rich.progress import Progress

        self._progress = Progress(
            *columns,
            console=Console(file=self._stream, highlight=False),
            transient=True,
            refresh_per_second=4,
            # Do not redirect what others print: standard output is data.
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._progress.start()

    def _say(self, line: str) -> None:
        if self._progress is not None:
            self._progress.console.print(line, markup=False, emoji=False)
        else:
            self._stream.write(line + "\n")
            self._stream.flush()

    def finish(self) -> None:
        """Remove the bars."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
