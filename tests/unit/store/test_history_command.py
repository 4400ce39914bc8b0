import csv
import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from advisor.cli.history import files as history_files
from advisor.cli.history.command import history
from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Failure, FailureKind
from advisor.domain.records import AdviceRecord, ProbeRecord, ShareRecord
from advisor.domain.shares import Served
from advisor.store.history import Store
from advisor.store.importers import read_files
from tests.commands import invoke

PROF = "h1 h2 02:28:2020:23:59:58 TCP iperf3 2 1460 65536 B 131072 B 10 sec 100000000 B 80.0 Mbps"

Run = Callable[..., Result]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def filled(
    store: Store, make_probe: Callable[..., ProbeRecord], make_advice: Callable[..., AdviceRecord]
) -> Store:
    failure = Failure(kind=FailureKind.RESET, message="it broke", elapsed_s=1.0)
    store.append(make_probe())
    store.append(make_probe(2e9, subject="udt", setting={"block_bytes": 8956}))
    store.append(make_probe(result=failure))
    store.append(make_advice("s", 1001.0))
    store.append(make_probe(pair=Pair("x", "y"), result=failure, recorded_s=900.0))
    return store


@pytest.fixture
def run(store: Store) -> Run:
    def call(*arguments: str) -> Result:
        return invoke(history, [*arguments, "--store", store.argument])

    return call


def _run_command(store: Store, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "advisor", "history", *arguments]
    return subprocess.run(
        [*command, "--store", store.argument], capture_output=True, text=True, check=False
    )


def test_list(run: Run, filled: Store) -> None:
    lines = run().stdout.splitlines()
    assert lines[0].split() == ["pair", "best", "records", "last", "used", "advice"]
    assert "dtn1.example.org->dtn2.example.org  udt 2 Gbit/s  4" in lines[1]
    assert lines[2].startswith("x->y")
    assert "none" in lines[2]


def test_list_as_json_and_csv(run: Run, filled: Store) -> None:
    first, second = json.loads(run("--json").stdout)
    assert first["pair"] == {"source": "dtn1.example.org", "destination": "dtn2.example.org"}
    assert [b["transport"] for b in first["best"]] == ["tcp", "udt"]
    assert second["best"] == []
    rows = list(csv.DictReader(io.StringIO(run("--csv").stdout)))
    assert [(r["source"], r["transport"]) for r in rows] == [
        ("dtn1.example.org", "tcp"),
        ("dtn1.example.org", "udt"),
        ("x", ""),
    ]


def test_an_empty_history_says_what_to_do(run: Run, store: Store) -> None:
    Path(store.argument).mkdir()
    result = run()
    assert (result.exit_code, result.stdout) == (0, "")
    assert "advisor advise" in result.stderr
    assert json.loads(run("--json").stdout) == []
    assert not list(Path(store.argument).iterdir())


def test_the_groups_store_holds_for_its_commands(filled: Store) -> None:
    arguments = ["--store", filled.argument, "show", "y", "--json"]
    result = invoke(history, arguments)
    assert json.loads(result.stdout)["pair"]["source"] == "x"


def test_show(run: Run, filled: Store) -> None:
    by_destination = run("show", "dtn2.example.org").stdout
    assert by_destination == run("show", "dtn1.example.org->dtn2.example.org").stdout
    for expected in ("Best", "Advice", "Probes", "udt", "failed: reset", "Based on only one probe"):
        assert expected in by_destination


def test_show_as_json_and_csv(run: Run, filled: Store) -> None:
    shown = json.loads(run("show", "dtn2.example.org", "--json").stdout)
    assert [b["probes"] for b in shown["best"]] == [1, 1]
    assert shown["best"][0]["caution"].startswith("Last measured")
    assert shown["advice"][0]["advice"]["session"] == "s"
    assert len(shown["probes"]) == 3
    rows = list(csv.DictReader(io.StringIO(run("show", "y", "--csv").stdout)))
    assert [r["outcome"] for r in rows] == ["failed"]


def test_import(run: Run, store: Store, tmp_path: Path) -> None:
    good, mixed = tmp_path / "good.PROF", tmp_path / "mixed.PROF"
    good.write_text(PROF)
    mixed.write_text(f"{PROF.replace('59:58', '59:59')}\n{PROF.replace('TCP', 'SCTP')}\n")
    missing = str(tmp_path / "missing")
    result = run("import", str(good), str(mixed), missing, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {"event": "import", "imported": 2, "refused": 2}
    assert result.stderr.splitlines() == [
        f"{mixed}, line 2: protocol 'SCTP' is neither TCP nor UDT",
        f"{missing}: it cannot be read: no such file or directory",
    ]
    again = run("import", str(good), "--json")
    assert again.exit_code == 0
    assert json.loads(again.stdout)["already_there"] == 1
    assert run("import", str(good)).stdout == "Imported 0, refused 0, 1 already stored.\n"
    assert len(store.probes(Pair("h1", "h2"))) == 2


def test_import_for_a_named_pair(run: Run, store: Store, tmp_path: Path) -> None:
    (tmp_path / "f").write_text(PROF)
    assert run("import", str(tmp_path / "f"), "--pair", "a->b").exit_code == 0
    assert len(store.probes(Pair("a", "b"))) == 1


def test_import_tells_bad_lines_by_reason(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "log"
    bad = [PROF.replace("TCP", "SCTP")] * 10_000
    other = [PROF.replace("80.0", f"{n}") for n in range(800, 840)]
    log.write_text("\n".join([PROF, *bad, *other]))
    result = run("import", str(log))
    assert result.stdout == "Imported 1, refused 10040.\n"
    lines = result.stderr.splitlines()
    assert lines[0] == (
        f"{log}, line 2, line 3, line 4 and 9997 more: protocol 'SCTP' is neither TCP nor UDT"
    )
    assert len(lines) == 21
    assert lines[-1] == f"{log}: 21 more, for other reasons"


def test_an_interrupted_import_keeps_whole_batches(
    run: Run, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    log.write_text("\n".join(PROF.replace("59:58", f"59:{n}") for n in range(10, 30)))

    def interrupted(*arguments: Any, **named: Any) -> Iterator[Any]:
        for number, entry in enumerate(read_files(*arguments, **named)):
            if number == 7:
                raise KeyboardInterrupt
            yield entry

    monkeypatch.setattr(history_files, "read_files", interrupted)
    monkeypatch.setattr(history_files, "_BATCH", 3)
    result = run("import", str(log), "--json")
    assert result.exit_code == 130
    assert json.loads(result.stdout) == {
        "event": "import",
        "imported": 6,
        "refused": 0,
        "interrupted": True,
    }
    assert "repeat the import" in result.stderr
    assert len(store.probes(Pair("h1", "h2"))) == 6
    monkeypatch.undo()
    assert run("import", str(log)).stdout == "Imported 14, refused 0, 6 already stored.\n"


def test_a_log_becomes_history(run: Run, tmp_path: Path) -> None:
    log = Path(__file__).parents[2] / "data/gridftp/transfers.log"
    assert run("import", str(log), "--json").exit_code == 0
    shown = json.loads(run("show", "dtn1.example.org", "--json").stdout)
    assert [probe["origin"] for probe in shown["probes"]] == ["gridftp-log"] * 5
    assert shown["best"][0]["transport"] == "globus-url-copy"
    assert len(run("export", "--format", "csv").stdout.splitlines()) == 9


def test_on_a_terminal_an_import_shows_how_far_it_is(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(PROF)
    controller, terminal = pty.openpty()
    command = [sys.executable, "-m", "advisor", "history", "import", str(log)]
    subprocess.run([*command, "--store", store.argument], stderr=terminal, check=True)
    os.close(terminal)
    assert b"Importing" in os.read(controller, 10_000)
    os.close(controller)


def test_export(run: Run, filled: Store, tmp_path: Path) -> None:
    everything = run("export").stdout.splitlines()
    assert len(everything) == 5
    assert [json.loads(line)["record"] for line in everything].count("advice") == 1
    assert run("export", "y", "--format", "markdown").stdout.count("\n") == 3
    output = tmp_path / "out.csv"
    result = run("export", "y", "--format", "csv", "--output", str(output))
    assert (result.exit_code, result.stdout) == (0, "")
    assert len(output.read_text().splitlines()) == 2


def test_what_was_measured_for_sharing_is_exported_though_it_is_of_no_session(
    run: Run, store: Store
) -> None:
    served = Served(concurrency=2, source_concurrency=4, throughput_bps=1e9)
    store.append(
        ShareRecord(
            pair=Pair("here", "far"),
            recorded_s=1000.0,
            session="s",
            served=served,
            parallelism=4,
            others={"near": 2},
            purpose="train",
        )
    )
    for words in ([], ["far"], ["here->far"]):
        [line] = run("export", *words).stdout.splitlines()
        assert json.loads(line)["record"] == "share"
    for words, named in (([], ""), (["far"], " of here->far")):
        done = run("sessions", *words)
        assert (done.exit_code, done.stdout) == (0, "")
        assert done.stderr.startswith(f"No session{named} is stored.")
    assert run("list").stderr.startswith("No session is stored.")


def test_a_dash_is_standard_output(
    run: Run, filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(run("export", "y", "--format", "csv", "--output", "-").stdout.splitlines()) == 2
    assert not Path("-").exists()


def test_a_destination_of_several_pairs(
    run: Run, filled: Store, make_probe: Callable[..., ProbeRecord]
) -> None:
    filled.append(make_probe(pair=Pair("z", "y")))
    result = run("show", "y")
    assert result.exit_code == 2
    assert "PAIR: 'y' is ambiguous: write one of" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--json", "--csv"], 2, "--csv: it cannot be given together with --json"),
        (
            ["--json", "show", "y"],
            2,
            "--json is an option of the subcommand: write it after 'show'",
        ),
        (["show", "a->"], 2, "'a->' is not a pair: write 'SOURCE->DESTINATION'"),
        (["import", "f", "--pair", "ab"], 2, "'ab' is not a pair"),
        (["import"], 2, "FILE…"),
        (["export", "--format", "zip"], 2, "'zip' is not one of"),
        (["export", "--output", "/missing/out"], 1, "cannot write '/missing/out'"),
        (["show", "nowhere"], 1, "nothing is stored for 'nowhere'"),
        (["import", "/missing/f"], 1, "no such file"),
    ],
)
def test_exit_codes_of_the_command_itself(
    filled: Store, arguments: list[str], code: int, sentence: str
) -> None:
    done = _run_command(filled, *arguments)
    assert done.returncode == code
    # An import counts at the end, whatever it found.
    assert done.stdout in ("", "Imported 0, refused 1.\n")
    (line,) = done.stderr.splitlines()
    assert sentence in line


def test_a_store_that_is_a_file_or_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = _run_command(Store(tmp_path / "file"))
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    (tmp_path / "dir" / "pair" / "journal.jsonl").mkdir(parents=True)
    done = _run_command(Store(tmp_path / "dir"))
    assert done.returncode == 0, "a directory in a journal's place is no journal"


def test_success_of_the_command_itself(filled: Store, tmp_path: Path) -> None:
    (tmp_path / "f").write_text(PROF)
    assert _run_command(filled, "import", str(tmp_path / "f"), "--json").returncode == 0
    done = _run_command(filled, "show", "h2", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["probes"][0]["origin"] == "ProbData"


def test_on_a_terminal_tables_are_drawn(filled: Store) -> None:
    outer, inner = pty.openpty()
    command = [sys.executable, "-m", "advisor", "history", "--store", filled.argument]
    environment = os.environ | {"COLUMNS": "160"}
    with subprocess.Popen(
        command, stdout=inner, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        os.close(inner)
        shown = b""
        try:
            while part := os.read(outer, 65536):
                shown += part
        except OSError:  # EIO is how a pseudo-terminal says that the other side has gone
            pass
    os.close(outer)
    assert process.returncode == 0
    assert "┃" in shown.decode()


def test_nothing_heavy_is_loaded() -> None:
    script = (
        "import sys, advisor.cli.history.command; "
        "print({'rich', 'textual', 'scipy', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"
