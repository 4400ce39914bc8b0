"""The table of the bench of Dask workers, and where it is put."""

from pathlib import Path

import pytest

from tests.benchmarks.dask_bench import BEGIN, END, table
from tests.benchmarks.markdown import put_between
from tests.benchmarks.wan.hosts import ROOT, Trouble


def test_a_worker_more_is_compared_with_one() -> None:
    rows = [line.split(" | ") for line in table({0: [9.0], 1: [10.0], 2: [6.25]}).splitlines()]
    assert [row[3] for row in rows[2:]] == ["1.11", "1.00", "1.60"]
    assert [row[4].rstrip(" |") for row in rows[2:]] == ["–", "100.0 %", "80.0 %"]


def test_the_page_has_a_place_for_it() -> None:
    text = (ROOT / "docs" / "backtest.md").read_text()
    assert 0 < text.find(BEGIN) < text.find(END)


def test_only_what_is_between_the_marks_is_replaced(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    put_between(page, BEGIN, END, "new")
    assert page.read_text() == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"
    page.write_text("nothing")
    with pytest.raises(Trouble):
        put_between(page, BEGIN, END, "new")
