"""What a demonstration of a fleet shows, on a terminal and elsewhere."""

import io

import pytest
from rich.console import Console
from rich.live import Live

from advisor.fleet.demo.running import DemoView
from advisor.fleet.state.rows import Attempt
from advisor.fleet.state.standing import PairStanding
from advisor.report.fleet_demo import DemoLines, DemoTable


def pair(source: str, destination: str, rate_bps: float | None = None) -> PairStanding:
    return PairStanding(
        task="mesh",
        source=source,
        destination=destination,
        last_s=None if rate_bps is None else 1000.0,
        due_s=0.0,
        rate_bps=rate_bps,
        rtt_s=None,
        news="none",
        failures=0,
        reason="",
    )


VIEW = DemoView(
    1010.0,
    [pair("h1", "h2", 93.4e6), pair("h2", "h1")],
    [
        Attempt(
            id=1,
            worker_id=1,
            account="w",
            task="mesh",
            source="h2",
            destination="h1",
            why="never measured",
            began_s=1005.0,
            most_bytes=1e6,
        )
    ],
)


def test_lines_say_it_once_and_end_with_the_matrix(capsys: pytest.CaptureFixture[str]) -> None:
    lines = DemoLines()
    lines.tell("h1->h2 mesh: begins")
    lines.show(VIEW)
    lines.show(VIEW)
    printed = capsys.readouterr().out
    assert printed == "h1->h2 mesh: begins\n1 of 2 pairs measured, 1 running.\n"
    lines.close(VIEW)
    cells = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["h1", "93.4", "Mbit/s"] in cells
    assert ["h2", "–"] in cells


def test_the_table_has_rates_and_what_runs() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=80, markup=False)
    with Live(console=console, auto_refresh=False) as live:
        table = DemoTable(live)
        table.tell("h2->h1 mesh: begins\x1b[31m")
        table.show(VIEW)
        table.close(VIEW)
    text = out.getvalue()
    assert "1 of 2 pairs measured, 1 running." in text
    assert "\x1b[31m" not in text
    rows = [line.split() for line in text.splitlines()]
    assert any("h1" in row and "93" in row for row in rows)
    assert any("h2" in row and any("…" in cell for cell in row) for row in rows)
