"""Tables on terminals of usual widths: what is to be copied is never cut."""

import io
import re

import pytest

from advisor.report.tables import print_table

COLUMNS = ("session", "began", "pair", "state", "probes", "best", "remarks")
IDS = [f"2026112{day}T074920Z-d2859{day}" for day in range(3)]
PAIR = "dtn1.example.org->dtn2.example.org"
NOTE = "the link was busy all the afternoon because of the backup of the other site"
ROWS = [
    [name, f"2026-11-2{day}T07:49:20Z", PAIR, "advised", "12", "tcp 9.41 Gbit/s", NOTE * (day == 1)]
    for day, name in enumerate(IDS)
]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, width: int, *rows: list[str]) -> list[str]:
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("COLUMNS", str(width))
    print_table(COLUMNS, list(rows))
    return re.sub("\x1b\\[[0-9;]*m", "", terminal.getvalue()).splitlines()


@pytest.mark.parametrize("width", [40, 80, 120, 160, 200, 300])
def test_ids_times_and_names_stay_whole(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    lines = shown(monkeypatch, width, *ROWS)
    for row in ROWS:
        for cell in row[:3]:
            assert any(cell in line.replace("│", " ").split() for line in lines)
    # A text that is wider than the terminal is folded by it.
    assert all(len(line) <= width for line in lines if NOTE not in line)
    text = " ".join(" ".join(lines).replace("│", " ").split())
    assert all(word in text for word in NOTE.split())


def test_the_id_is_first_and_what_has_no_room_is_below(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(monkeypatch, 80, ROWS[0])
    assert lines[:2] == [
        "session                  began",
        "    pair                                state    probes  best",
    ]
    assert lines[-2:] == [
        f"{IDS[0]}  2026-11-20T07:49:20Z",
        f"    {PAIR}  advised  12      tcp 9.41 Gbit/s",
    ]


def test_where_there_is_room_it_is_drawn_and_only_texts_are_folded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = shown(monkeypatch, 170, *ROWS)
    assert lines[0].startswith("┏")
    [row] = [line for line in lines if IDS[1] in line]
    assert "tcp 9.41 Gbit/s" in row
    assert NOTE not in row
    assert "the link was busy" in row
