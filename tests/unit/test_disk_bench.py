"""The bench's figures from made-up results, and what it does to files."""

from pathlib import Path

import pytest

from advisor import registry
from advisor.api.tool import ToolLimits
from advisor.domain.advice import Estimate
from advisor.domain.dataset import Dataset
from advisor.domain.space import Setting
from tests.benchmarks.disk.cases import (
    BEFORE,
    CASES,
    Case,
    Group,
    Plan,
    cells_of,
    estimate_s,
)
from tests.benchmarks.disk.dataset import make_dataset
from tests.benchmarks.disk.document import END, beginning, tables, write_document
from tests.benchmarks.disk.files import difference, remove
from tests.benchmarks.disk.inside import LineOrder, run_line
from tests.benchmarks.disk.results import Ran, Results, Session, Swept, cell_key
from tests.benchmarks.disk.running import default_line, is_complete
from tests.benchmarks.disk.sessions import settings_of
from tests.benchmarks.disk.shell import CUT
from tests.benchmarks.disk.summary import summarize, sweep_of
from tests.benchmarks.disk.sweeping import left_to_sweep
from tests.benchmarks.disk.tools import GLOBUS_URL_COPY, TOOLS
from tests.benchmarks.wan.hosts import Trouble

CASE = CASES[1]
DEFAULT, FAST = GLOBUS_URL_COPY.defaults
BEGIN = beginning(GLOBUS_URL_COPY)
CELLS: list[Setting] = [{"concurrency": c, "parallelism": p} for c in (1, 4) for p in (1, 8)]
ADVISED: Setting = {"concurrency": 4, "parallelism": 8}
FASTER: Setting = {"concurrency": 4, "parallelism": 1}
SLOW: Setting = {"concurrency": 1, "parallelism": 1}


def _session(**fields: object) -> Session:
    made: dict[str, object] = {
        "case": CASE.key,
        "method": "bayes",
        "seed": 1,
        "setting": ADVISED,
        "shell": "globus-url-copy -vb file:///a/ ftp://far:2811/b/",
        "expected_bps": 4e8,
        "transfer_s": Estimate(5.0, (4.0, 6.0)),
        "gain": Estimate(2.0, (1.5, 2.5)),
        "by_cell": [(cell, f"line {cell_key(cell)}") for cell in CELLS],
        "searching": 6,
        "probes": 20,
        "seconds": 118.0,
        "ended": "the time is used",
    }
    return Session(**(made | fields))  # type: ignore[arg-type]  # Any of its fields.


def _ran(method: str, *seconds: float, trouble: str = "", start: int = 0) -> list[Ran]:
    return [
        Ran(case=CASE.key, method=method, number=start + n, seconds=s, trouble=trouble)
        for n, s in enumerate(seconds)
    ]


def _swept(setting: Setting, *seconds: float, trouble: str = "") -> list[Swept]:
    return [
        Swept(case=CASE.key, repeat=n, setting=dict(setting), seconds=s, trouble=trouble)
        for n, s in enumerate(seconds)
    ]


@pytest.fixture
def results(tmp_path: Path) -> Results:
    made = Results(tmp_path / "disk.jsonl")
    made.add(_session())
    for run in [*_ran("bayes", *[5.0] * 9, 6.5), *_ran(DEFAULT, 9.0, 8.0, 7.0)]:
        made.add(run)
    return made


def test_a_run_counts_inside_the_interval_only_when_it_went_well(results: Results) -> None:
    [summary] = summarize(CASE, results)
    assert (summary.runs, summary.in_interval, summary.lands) == (10, 9, True)
    for run in _ran("bayes", 5.0, trouble="x differs", start=10):
        results.add(run)
    [summary] = summarize(CASE, results)
    assert (summary.runs, summary.in_interval, summary.lands) == (11, 9, False)
    assert summary.troubles == ["bayes 11: x differs"]
    assert len(summary.advised_s) == 10


def test_the_gain_is_compared_with_the_lower_end_of_what_was_stated(results: Results) -> None:
    [summary] = summarize(CASE, results)
    assert summary.gain(DEFAULT) == pytest.approx(8.0 / 5.0)
    assert summary.beats(DEFAULT)
    assert summary.beats(FAST)
    for run in _ran(DEFAULT, 7.0, 7.0, start=3):
        results.add(run)
    [summary] = summarize(CASE, results)
    assert summary.gain(DEFAULT) == pytest.approx(7.0 / 5.0)
    assert not summary.beats(DEFAULT)


def test_the_version_before_is_beside_it_and_its_gain_is_over_another_default(
    results: Results,
) -> None:
    results.add(_session(method=BEFORE, further_gains={FAST: Estimate(9.0, (8.0, 10.0))}))
    for run in _ran(BEFORE, 7.0, 7.0):
        results.add(run)
    now, before = summarize(CASE, results)
    assert before.stated_gain(DEFAULT) is None
    assert before.beats(DEFAULT)
    assert before.gain(DEFAULT) == pytest.approx(8.0 / 7.0)
    assert now.stated_gain(FAST) is None
    assert "the version before | 5.0 (4.0 to 6.0) | 7.0 |" in tables(results)
    assert not is_complete(CASE, Plan(runs=10, sweep=False, before=Path("/x")), results)


def test_an_interval_from_nothing_to_for_ever_is_compared_with_the_advice(tmp_path: Path) -> None:
    results = Results(tmp_path / "disk.jsonl")
    results.add(_session(transfer_s=Estimate(5.0, (0.0, 35000.0))))
    for run in [*_ran("bayes", 5.0), *_ran(DEFAULT, 9.0)]:
        results.add(run)
    assert "too wide to be useful" in tables(results)


def test_only_what_was_measured_again_is_compared_in_the_sweep() -> None:
    swept = [
        *_swept(ADVISED, 5.0, 5.2, 5.4),
        *_swept(FASTER, 4.4, 4.2, 6.0),
        # The luckiest of those measured once, and one that was too slow to wait for.
        *_swept({"concurrency": 1, "parallelism": 8}, 4.0),
        *_swept(SLOW, 6.5, trouble=CUT),
    ]
    found = sweep_of(_session(), swept)
    assert found is not None
    assert (found.cells, found.cut, found.best) == (4, 1, cell_key(FASTER))
    assert found.accuracy == pytest.approx(4.4 / 5.2)
    assert found.overhead == pytest.approx(6 / (2 * 4))
    assert sweep_of(_session(), swept[:-1]) is None


def test_the_sweep_goes_over_all_and_then_over_the_best_and_what_was_advised(
    results: Results,
) -> None:
    repeat, left = left_to_sweep(CASE, results)
    assert (repeat, set(left)) == (0, {cell_key(cell) for cell in CELLS})
    seconds = {cell_key(cell): 4.0 + n for n, cell in enumerate(CELLS)}
    for cell in CELLS:
        trouble = CUT if cell == SLOW else ""
        for one in _swept(cell, seconds[cell_key(cell)], trouble=trouble):
            results.add(one)
    # The one that was cut comes first by its seconds, and is none of the best.
    wanted = {cell_key(cell) for cell in CELLS if cell != SLOW}
    for number in (1, 2):
        repeat, left = left_to_sweep(CASE, results)
        assert (repeat, set(left)) == (number, wanted)
        assert not is_complete(CASE, Plan(runs=10), results)
        for cell in CELLS:
            if cell_key(cell) in wanted:
                results.add(Swept(case=CASE.key, repeat=number, setting=dict(cell), seconds=5.0))
    assert left_to_sweep(CASE, results)[1] == []
    assert is_complete(CASE, Plan(runs=10), results)
    assert not is_complete(CASE, Plan(runs=11), results)
    assert not is_complete(CASE, Plan(runs=10, methods=("bayes", "depth-width")), results)


def test_results_are_read_again_and_a_torn_line_is_cut_off(results: Results) -> None:
    with results.file.open("a") as file:
        file.write('{"type":"swept","ca')
    again = Results(results.file)
    assert again.lines == results.lines
    again.add(_ran(DEFAULT, 1.0, start=9)[0])
    assert Results(results.file).lines == again.lines


def test_the_tables_replace_what_is_between_the_marks(results: Results, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n\n{BEGIN}\n\nold\n\n{END}\n\nafter\n")
    write_document(results, page)
    first = page.read_text()
    write_document(results, page)
    assert page.read_text() == first
    assert "old" not in first
    assert first.startswith("before\n")
    assert first.endswith("after\n")
    assert "| 5.0 (4.0 to 6.0) | 5.0 (5.0 to 6.5) | 9 of 10 | 8.0 (7.0 to 9.0) |" in first
    assert "- Nothing." in first
    page.write_text("no marks")
    with pytest.raises(Trouble, match="has no lines"):
        write_document(results, page)
    with pytest.raises(Trouble, match="no case with advice"):
        tables(Results(tmp_path / "none.jsonl"))


def test_the_page_has_the_marks() -> None:
    pages = Path(__file__).parents[2] / "docs"
    assert BEGIN in (pages / "benchmarks-disk.md").read_text()
    others = (pages / "benchmarks-disk-tools.md").read_text()
    for tool in TOOLS.values():
        if tool is not GLOBUS_URL_COPY:
            _, mark, after = others.partition(beginning(tool))
            assert mark
            assert END in after


def test_a_session_without_advice_is_reported(results: Results) -> None:
    results.add(_session(method="depth-width", setting=None, shell="", ended="nobody there"))
    assert "0.4-mixed, depth-width: no advice: nobody there." in tables(results)
    assert is_complete(CASE, Plan(runs=10, methods=("depth-width",), sweep=False), results)


def test_the_default_line_has_the_addresses_of_the_advised_one() -> None:
    line = "globus-url-copy -vb -fast -p 4 -pp -r -cd 'file:///a b/' ftp://far/c/"
    typed = "globus-url-copy -r -cd 'file:///a b/' ftp://far/c/"
    assert default_line(line, GLOBUS_URL_COPY, DEFAULT) == typed
    line = "globus-url-copy -fast -p 4 file:///a ftp://far/c"
    assert default_line(line, GLOBUS_URL_COPY, FAST) == (
        "globus-url-copy -fast -pp file:///a ftp://far/c"
    )
    line = "sh -c 'split …' a /a/ root://far//c/"
    assert default_line(line, TOOLS["xrdcp"], "as typed") == "xrdcp -r /a/ root://far//c/"
    line = "sh -c 'split …' /a/ far:/c/ 'mkdir -p /c/; rsync'"
    assert default_line(line, TOOLS["rsync"], "as typed") == "rsync -a /a/ far:/c/"
    assert default_line("rsync -a /a far:/c", TOOLS["rsync"], "as typed") == "rsync -a /a far:/c"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.key)
def test_the_estimate_counts_the_cells_that_the_tool_has(case: Case) -> None:
    path, limits = None, ToolLimits()
    tool = registry.transfer_tool("globus-url-copy")
    dataset = Dataset(total_bytes=case.total_bytes, files=case.files)
    assert len(settings_of(tool.space(path, dataset, limits))) == cells_of(case)  # type: ignore[arg-type]  # No path is looked at.
    assert estimate_s(case, Plan(runs=10)) > estimate_s(case, Plan(runs=1, sweep=False)) > 0


def test_a_copy_is_the_same_only_with_every_byte_of_every_file(tmp_path: Path) -> None:
    groups = (Group(3, 1000), Group(1, 70_000))
    case = Case("0.4-x", "x", 0.0004, groups, 1.0, 1.0, 1)
    data = make_dataset(tmp_path / "data", case)
    copy = make_dataset(tmp_path / "copy", case)
    assert difference(data, copy) == ""
    victim = copy / "0-00001.dat"
    victim.write_bytes(b"\0" + victim.read_bytes()[1:])
    assert difference(data, copy) == "0-00001.dat differs"
    victim.unlink()
    assert difference(data, copy) == "1 files are missing, 0 are not ours"
    remove(copy)
    assert difference(data, copy) == "4 files are missing, 0 are not ours"
    remove(copy)


def test_one_file_is_a_dataset_of_its_own(tmp_path: Path) -> None:
    case = Case("0.4-x", "x", 0.0004, (Group(1, 5000),), 1.0, 1.0, 1)
    data, copy = make_dataset(tmp_path / "data", case), tmp_path / "copy"
    assert difference(data, copy) == "copy is missing"
    copy.write_bytes(data.read_bytes()[:-1])
    assert difference(data, copy) == "copy differs"
    remove(copy)
    assert not copy.exists()


def test_a_line_is_run_by_a_shell_and_its_last_words_are_kept(tmp_path: Path) -> None:
    ended = run_line(LineOrder(f"echo 'a b' > {tmp_path}/out; echo no >&2; exit 3", 30.0))
    assert (ended.status, ended.said) == (3, "no\n")
    assert (tmp_path / "out").read_text() == "a b\n"


def test_a_line_that_takes_too_long_is_cut_with_all_that_it_started(tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    line = f"(sleep 1; touch {alive}) & wait"
    ended = run_line(LineOrder(line, 0.2))
    assert ended.status is None
    assert run_line(LineOrder(f"sleep 1.5; test ! -e {alive}", 30.0)).status == 0
