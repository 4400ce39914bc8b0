import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from advisor.backtest.running import Finished
from advisor.backtest.scores import MethodScore
from advisor.cli.backtest.command import backtest
from advisor.domain.endpoints import Pair
from advisor.domain.records import ProbeRecord, RemarkRecord
from advisor.report import plotting
from advisor.report.backtest import conclusion
from advisor.store.history import Store
from advisor.testing.samples import measured
from tests.commands import invoke

from .conftest import Typed

ADVISOR = [sys.executable, "-P", "-m", "advisor"]
HEADER = (
    "FileSize,FileCount,Bandwidth,RTT,Parallelism,Concurrency,Throughput,Duration,"
    "Source,Destination"
)
FILE_BYTES, FILES = 10**8, 100
PARALLELISM, CONCURRENCY = (1, 2, 4), (1, 2, 4)

Run = Callable[..., Result]


def line(parallelism: int, concurrency: int, rate_bps: float, size: int = FILE_BYTES) -> str:
    elapsed_s = size * FILES * 8 / rate_bps
    return (
        f"{size},{FILES},10000,0.04,{parallelism},{concurrency},"
        f"{rate_bps / 2**20},{elapsed_s},here,there"
    )


def grid(size: int = FILE_BYTES) -> list[str]:
    """Every flow gives 100 Mbit/s more; the best cell is 4 × 4."""
    return [
        line(p, c, 1e8 * p * c, size) for p in PARALLELISM for c in CONCURRENCY for _ in range(2)
    ]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "grid.csv"
    impossible = line(1, 1, 99e9)
    file.write_text("\n".join([HEADER, *grid(), impossible]) + "\n")
    return file


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))

    def call(*arguments: object) -> Result:
        words = [*map(str, arguments), "--store", str(tmp_path / "store")]
        return invoke(backtest, words, standalone_mode=False)

    return call


def scores(result: Result) -> dict[str, Any]:
    last: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return last


def test_the_last_line_of_json_is_the_scores(run: Run, table: Path) -> None:
    result = run(table, "--method", "globus-default,sweep", "--seeds", "3", "--json")
    assert result.return_value == 0
    answer = scores(result)
    assert list(answer) == ["methods", "tables"]
    assert list(answer["methods"]) == ["sweep", "globus-default"]
    # Globus has 2 × 8 for large files: 2 × 4 is the nearest here, with half the flows of the best.
    assert answer["methods"]["globus-default"] == pytest.approx(
        {
            "median": 0.5,
            "p10": 0.5,
            "probes": 1,
            "seconds": FILE_BYTES * FILES * 8 / 8e8,
            "flows": 8,
            "within_5_percent": 0,
        }
    )
    (one,) = answer["tables"]
    assert one["name"].startswith("grid")
    assert one["best_bps"] == pytest.approx(16e8)
    assert {name: one[name] for name in ("source", "cells", "repeats", "best", "best_flows")} == {
        "source": "grid",
        "cells": 9,
        "repeats": 18,
        "best": {"concurrency": 4, "parallelism": 4},
        "best_flows": 16,
    }


def test_what_was_read_is_reported_first(run: Run, table: Path) -> None:
    result = run(table, "--method", "heur1", "--seeds", "2", "--json")
    first, *others = map(json.loads, result.stdout.splitlines())
    (source,) = first["sources"]
    assert first["event"] == "tables_read"
    assert (source["source"], source["rows"], source["tables"]) == ("grid", 18, 1)
    assert source["left_out"] == {"faster than the link": 1}
    assert source["repaired"] == {"bandwidths in Mbit/s": 18}
    assert [o["event"] for o in others[:-1]] == ["progress"]
    assert (others[0]["done"], others[0]["of"]) == (2, 2)
    assert result.stderr == (
        "grid: 1 table of 18 transfers; repaired: 18 bandwidths in Mbit/s; "
        "left out: 1 faster than the link\n"
    )


def test_the_same_seeds_give_the_same_scores(run: Run) -> None:
    arguments = ("synthetic", "--method", "spsa", "--seeds", "2", "--json")
    assert run(*arguments).stdout == run(*arguments).stdout


def test_every_method_that_can_run_is_replayed(run: Run, table: Path) -> None:
    result = run(table, "--seeds", "1", "--json")
    bundled = {"spsa", "bayes", "compass", "nelder-mead", "sweep", "heur1", "globus-default"}
    assert bundled <= scores(result)["methods"].keys()


def test_text_names_the_best_and_says_how_sure_it_is(run: Run, table: Path) -> None:
    result = run(table, "--method", "globus-default", "--method", "sweep", "--seeds", "2")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("1 table of 1 source, 2 searches of each method against each")
    assert lines[1].split()[:3] == ["method", "median", "p10"]
    assert lines[2].split()[:3] == ["sweep", "1.00", "1.00"]
    assert lines[3].split()[:4] == ["globus-default", "0.50", "0.50", "1.0"]
    conclusion = " ".join(lines[-2:])
    assert "sweep would have served these paths best, but 1 table is too few" in conclusion


def made(method: str, *medians: float) -> Finished:
    def score(median: float) -> MethodScore:
        return MethodScore(
            median=median, p10=median, probes=1, seconds=1, flows=1, within_5_percent=0
        )

    by_table = [score(median) for median in medians]
    return Finished(
        method=method, score=score(sorted(medians)[len(medians) // 2]), by_table=by_table
    )


def test_ahead_on_every_table_is_more_than_chance() -> None:
    text = conclusion([made("m", *[0.9] * 6), made("n", *[0.7] * 6), made("o", *[0.1] * 6)])
    assert text == (
        "m would have served these paths best, ahead of n (0.90 against 0.70 in the median) by "
        "more than chance (permutation test over 6 tables, p = 0.031)."
    )


def test_ahead_on_some_tables_is_not() -> None:
    text = conclusion([made("m", 0.9, 0.9, 0.9, 0.2, 0.9), made("n", 0.8, 0.8, 0.8, 0.9, 0.8)])
    assert text.startswith("m would have served these paths best, but not by more than chance")
    assert "over 5 tables, p = " in text


def test_four_tables_are_too_few_to_tell() -> None:
    text = conclusion([made("m", *[0.9] * 4), made("n", *[0.1] * 4)])
    assert "but 4 tables are too few to distinguish it from n" in text


def test_one_method_alone_is_compared_with_nothing() -> None:
    text = conclusion([made("m", 0.5)])
    assert (
        text == "m achieved 0.50 of the best in the median; there is no other to compare it with."
    )


def test_a_folder_is_all_its_tables_each_once(run: Run, table: Path) -> None:
    (table.parent / "other.csv").write_text("\n".join([HEADER, *grid(10**6)]) + "\n")
    (table.parent / "notes.txt").write_text("nothing")
    result = run(table.parent, table, "--method", "heur1", "--seeds", "1", "--json")
    assert [one["source"] for one in scores(result)["tables"]] == ["grid", "other"]


def stored(pair: Pair, store: Store) -> None:
    for recorded_s, streams in enumerate((1, 2, 4, 8, 16), start=1):
        store.append(
            ProbeRecord(
                pair=pair,
                subject="tcp",
                setting={"streams": streams, "buffer_bytes": 2**20},
                result=measured(streams * 1e8),
                recorded_s=float(recorded_s),
                session="s",
            )
        )


def test_the_users_own_history(run: Run, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    for destination in ("b", "c", "deleted"):
        stored(Pair("a", destination), store)
    store.append(
        RemarkRecord(pair=Pair("a", "deleted"), recorded_s=9.0, session="s", kind="deleted")
    )
    everything = run("history", "--method", "sweep", "--seeds", "1", "--json")
    assert {one["source"] for one in scores(everything)["tables"]} == {"a->b", "a->c"}
    both = run("history", "history:c", "--method", "sweep", "--seeds", "1", "--json")
    assert len(scores(both)["tables"]) == 2
    one_pair = run("history:c", "--method", "sweep", "--seeds", "1", "--json")
    (only,) = scores(one_pair)["tables"]
    assert (only["source"], only["best_bps"], only["cells"]) == ("a->c", 16e8, 5)


def test_an_empty_history_is_nothing_to_replay_against(run: Run) -> None:
    result = run("history", "--method", "sweep")
    assert (result.return_value, result.stdout) == (1, "")
    assert "nothing to replay against" in result.stderr


BROKEN = """
from advisor.api.values import AVAILABLE

class Broken:
    name = "broken"
    summary = "fails"
    constants = ()

    def available(self):
        return AVAILABLE

    def create(self, space, rng, knowledge, constants):
        raise RuntimeError("out of order.")

plugin = Broken()
"""


def started(
    home: Path, *arguments: str, plugin: str = BROKEN, **streams: Any
) -> "subprocess.Popen[str]":
    plugins = home / "plugins" / "methods"
    plugins.mkdir(parents=True)
    (plugins / "broken.py").write_text(plugin)
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(home),
        "XDG_DATA_HOME": str(home / "data"),
        "ADVISOR_PLUGINS": str(home / "plugins"),
        "TERM": "xterm",
    }
    command = [*ADVISOR, "backtest", *arguments]
    return subprocess.Popen(command, env=environment, text=True, **streams)


def test_a_method_that_fails_is_named_and_the_others_continue(tmp_path: Path, table: Path) -> None:
    process = started(
        tmp_path,
        *(str(table), "--method", "broken,heur1", "--seeds", "1", "--json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 0
    *_, left_out, last = map(json.loads, stdout.splitlines())
    assert (left_out["event"], left_out["method"]) == ("left_out", "broken")
    assert list(last["methods"]) == ["heur1"]
    assert re.search(r"broken is left out: it failed on grid.*: out of order\n", stderr)


def test_a_method_that_cannot_run_is_refused_with_what_is_missing(
    tmp_path: Path, table: Path
) -> None:
    lacking = BROKEN.replace("return AVAILABLE", 'return Availability("no moon", "wait for it")')
    process = started(
        tmp_path,
        *(str(table), "--method", "broken"),
        plugin=lacking.replace("import AVAILABLE", "import Availability"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "--method: broken cannot run here: no moon: wait for it" in stderr


def test_where_every_method_fails_there_is_nothing_usable(tmp_path: Path, table: Path) -> None:
    process = started(
        tmp_path,
        *(str(table), "--method", "broken"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout) == (1, "")
    assert "no method got through" in stderr


def test_ctrl_c_keeps_what_was_finished(tmp_path: Path, table: Path) -> None:
    process = started(
        tmp_path,
        *("synthetic", "--method", "heur1,spsa", "--seeds", "400", "--json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    seen: Iterator[dict[str, Any]] = map(json.loads, process.stdout)
    next(one for one in seen if one.get("method") == "spsa")
    process.send_signal(signal.SIGINT)
    *_, last = seen
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert list(last["methods"]) == ["heur1"]
    assert stderr.splitlines()[1:] == ["advisor: interrupted: 1 of 2 methods were finished"]


def test_on_a_terminal_it_fits_eighty_columns(tmp_path: Path, table: Path) -> None:
    outer, inner = pty.openpty()
    process = started(tmp_path, "synthetic", "--seeds", "1", stdout=inner, stderr=inner)
    os.close(inner)
    shown = b""
    try:
        while part := os.read(outer, 65536):
            shown += part
    except OSError:  # EIO is how a pseudo-terminal says that the other side has gone
        pass
    os.close(outer)
    assert process.wait(timeout=60) == 0
    text = shown.decode()
    assert "searching: " in text
    drawn = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).split("\r\n")
    tables = [line for line in drawn if line.startswith(("┏", "┃", "│"))]
    assert max(map(len, tables)) <= 80
    assert any(re.match(r"│ coordinate-descent +│", line) for line in tables)


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_a_plot(run: Run, tmp_path: Path, table: Path, suffix: str) -> None:
    file = tmp_path / f"regret{suffix}"
    file.write_bytes(b"old")
    assert run(table, "--method", "sweep,heur1", "--seeds", "2", "--plot", file).return_value == 0
    drawn = file.read_bytes()
    magic = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}[suffix]
    assert drawn.startswith(magic)
    if suffix == ".svg":
        for words in (b"sweep", b"heur1", b"seconds of probing"):
            assert words in drawn
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


NONSENSE: list[tuple[list[str], list[str]]] = [
    ([], ["TABLE", "CSV", "folder", "history", "synthetic"]),
    (["x" * 300], ["TABLE", "there is no"]),
    (["no-such.csv"], ["TABLE", "no-such.csv", "synthetic"]),
    (["EMPTY"], ["TABLE", "*.csv"]),
    (["PROSE"], ["TABLE", "prose.csv", "columns"]),
    (["synthetic", "--method", "magic"], ["--method", "magic", "bayes", "all"]),
    (["synthetic", "--method", "sweep,"], ["--method", "bayes"]),
    (["synthetic", "--seeds", "0"], ["--seeds", "0", "10000"]),
    (["synthetic", "--seeds", "10001"], ["--seeds", "10001"]),
    (["synthetic", "--budget", "0"], ["--budget", "0", "100000"]),
    (["synthetic", "--budget", "60s"], ["--budget", "60s"]),
    (["synthetic", "--plot", "r.gif"], ["--plot", "r.gif", ".svg", ".png", ".pdf"]),
    (["synthetic", "--plot", "/no/such/r.svg"], ["--plot", "/no/such"]),
    (["synthetic", "--plot", "x" * 300 + ".svg"], ["--plot", "too long"]),
    (["synthetic", "--plot", "FOLDER"], ["--plot", "folder.svg", "directory"]),
]


@pytest.mark.parametrize(("arguments", "words"), NONSENSE, ids=lambda x: " ".join(x)[:40])
def test_nonsense_gets_one_sentence(
    typed: Typed, arguments: list[str], words: list[str], tmp_path: Path
) -> None:
    places = {
        "EMPTY": tmp_path / "empty",
        "PROSE": tmp_path / "prose.csv",
        "FOLDER": tmp_path / "folder.svg",
    }
    places["EMPTY"].mkdir()
    places["FOLDER"].mkdir()
    places["PROSE"].write_text("once upon a time\n")
    done = typed("backtest", *(places.get(word, word) for word in arguments))
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1, done.stderr
    for word in words:
        assert word in done.stderr


def test_an_unknown_destination_is_reported(run: Run, tmp_path: Path) -> None:
    Store(tmp_path / "store")
    result = run("history:nowhere")
    assert "nothing is stored for 'nowhere'" in str(result.exception)


def test_without_matplotlib_it_says_how_to_get_it_before_anything_is_run(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plotting.importlib.util, "find_spec", lambda _: None)
    result = run("synthetic", "--plot", tmp_path / "r.svg")
    assert "pip install 'data-transfer-advisor[plot]'" in str(result.exception)
    assert result.output == ""


def test_scores_alone_load_no_figures_and_no_statistics(tmp_path: Path, table: Path) -> None:
    script = (
        "import sys\n"
        "from advisor.cli.main import main\n"
        f"try: main(['backtest', {str(table)!r}, '--seeds', '1', '--json'])\n"
        "except SystemExit: pass\n"
        "print(sorted({'matplotlib', 'scipy', 'rich', 'textual'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)},
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_methods_and_tables_are_completed(tmp_path: Path) -> None:
    def completed(words: str) -> list[str]:
        done = subprocess.run(
            [Path(sys.executable).with_name("advisor")],
            capture_output=True,
            text=True,
            timeout=60,
            env={
                "PATH": "/usr/bin:/bin",
                "HOME": str(tmp_path),
                "_ADVISOR_COMPLETE": "complete_bash",
                "COMP_WORDS": words,
                "COMP_CWORD": str(words.count(" ")),
            },
            check=False,
        )
        return done.stdout.splitlines()

    assert completed("advisor backtest syn") == ["synthetic"]
    assert completed("advisor backtest ./grid") == [""]  # the shell completes files
    assert completed("advisor backtest synthetic --method spsa,bay") == ["spsa,bayes"]
