"""A demonstration of a fleet: a matrix that fills on a terminal, lines elsewhere."""

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from advisor.domain.printable import printable
from advisor.report.fleet_status import matrix_rows, print_matrix, reached
from advisor.report.output import rich_console, say

if TYPE_CHECKING:
    from advisor.fleet.demo.running import DemoView
    from advisor.fleet.state.standing import PairStanding


class DemoLines:
    """What workers say, how many pairs are measured, and the matrix in the end."""

    def __init__(self) -> None:
        self._measured = -1

    def tell(self, line: str) -> None:
        """A worker has said something."""
        say(line)

    def show(self, view: "DemoView") -> None:
        """How it stands."""
        if view.measured != self._measured:
            say(_progress(view))
        self._measured = view.measured

    def close(self, view: "DemoView") -> None:
        """How it stands in the end."""
        say()
        print_matrix(view.pairs, view.now_s, ages=False)
        say(_progress(view))


class DemoTable(DemoLines):
    """The matrix, drawn again and again."""

    def __init__(self, live: Any) -> None:
        super().__init__()
        self._live = live
        self._last = ""

    def tell(self, line: str) -> None:
        """A worker has said something."""
        self._last = line

    def show(self, view: "DemoView") -> None:
        """How it stands."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        running = {(one.source, one.destination) for one in view.running}
        table = Table()
        columns, rows = matrix_rows(view.pairs, lambda one: _cell(one, running))
        for column in columns:
            table.add_column(column, justify="right", min_width=4)
        for row in rows:
            table.add_row(*(Text(cell, style="bold" if cell == "…" else "") for cell in row))
        lines = [
            Text("Mbit/s, from the host of a row to that of a column"),
            Text(_progress(view)),
            Text(printable(self._last)),
        ]
        self._live.update(Group(table, *lines), refresh=True)

    def close(self, view: "DemoView") -> None:
        """How it stands in the end."""
        self.show(view)
        self._live.stop()


def _cell(one: "PairStanding", running: set[tuple[str, str]]) -> str:
    if one.rate_bps is not None:
        return f"{one.rate_bps / 1e6:.0f}"
    return "…" if (one.source, one.destination) in running else reached(one)


def _progress(view: "DemoView") -> str:
    return f"{view.measured} of {len(view.pairs)} pairs measured, {len(view.running)} running."


@contextlib.contextmanager
def shown_on(*, plain: bool) -> Iterator[DemoLines]:
    """What shows it: the matrix on a terminal, unless `plain`."""
    if plain or not sys.stdout.isatty():
        yield DemoLines()
        return
    from rich.live import Live

    with Live(console=rich_console(sys.stdout), auto_refresh=False, redirect_stderr=False) as live:
        yield DemoTable(live)
