"""What the bench reads from a run, what it takes along from this machine, and its page."""

import os
import re
from pathlib import Path

import pytest

from tests.benchmarks.bare import systems
from tests.benchmarks.bare.cases import Case, cases
from tests.benchmarks.bare.document import BEGIN, END, write_document
from tests.benchmarks.bare.machine import lay_out, named_paths, passed_on
from tests.benchmarks.bare.results import Cell, Results, Step
from tests.benchmarks.bare.running import asked_line, count_in, failures_in
from tests.benchmarks.wan.hosts import ROOT, Trouble
from tests.benchmarks.wan.results import Machine
from tests.stages.summary import Failure, Outcome

CASE = Case("bookworm", "user", "test")
MACHINE = Machine(
    when="2026-11-22 21:00 UTC",
    command="python -m tests.benchmarks.bare",
    quick=False,
    kernel="6.18",
    processor="A processor",
    cores=2,
    memory_bytes=2**34,
    load_1min=0.0,
    hosts_congestion="bbr",
    versions={},
)
ASKED = "apt-get update && apt-get install -y --no-install-recommends fio"


def _cell(status: int | None = 0, commit: str = "abc", failures: tuple[str, ...] = ()) -> Cell:
    return Cell(
        case=CASE.key,
        when="2026-11-22 21:00 UTC",
        commit=commit,
        python="3.11.2",
        steps=[
            Step(account="user", line="make test", status=2, seconds=1.0),
            Step(account="root", line=ASKED, status=0, seconds=12.0),
            Step(account="user", line="make test", status=status, seconds=900.0),
        ],
        tests="10 passed, 0 failed, 0 skipped",
        failures=list(failures),
    )


def test_the_line_that_the_program_asks_for_is_taken_as_it_is() -> None:
    said = f"sh scripts/x\nRun this once as root, then try again:\n    {ASKED}\nmake: *** Error 1\n"
    assert asked_line(said) == ASKED
    assert asked_line("make: *** Error 1\n") == ""


def test_what_failed_is_named_else_the_last_lines() -> None:
    failure = Failure("quick", "tests/unit/test_a.py::test_b", "assert 1 == 2")
    said = (
        "FAILED tests/unit/test_a.py::test_b - assert 1 == 2\n"
        f"{Outcome(passed=7, skipped=2, failures=[failure])}\n"
        "make: *** [Makefile:58: test] Error 1\n"
    )
    assert failures_in(said) == ["quick: tests/unit/test_a.py::test_b: assert 1 == 2"]
    assert count_in(said) == "7 passed, 1 failed, 2 skipped"
    assert failures_in("one\n\ntwo\n") == ["one", "two"]
    assert count_in("one\n") == ""


def test_what_finds_packages_is_taken_along(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    environment = {
        "HTTPS_PROXY": "http://proxy:3128",
        "no_proxy": "localhost",
        "PIP_FIND_LINKS": f"https://wheels.example {wheels}",
        "UV_PYTHON_DOWNLOADS": "never",
        "SSL_CERT_FILE": "/no/such/file",
        "HOME": "/root",
    }
    variables = passed_on(environment)
    assert set(variables) == {"HTTPS_PROXY", "no_proxy", "PIP_FIND_LINKS", "SSL_CERT_FILE"}
    assert named_paths(variables) == [wheels]
    root = tmp_path / "root"
    (root / "etc").mkdir(parents=True)
    outside = tmp_path / "outside"
    outside.write_text("not to be touched")
    (root / "etc/hosts").symlink_to(outside)
    assert wheels in lay_out(root, variables)
    assert (root / "etc/hosts").read_text() == Path("/etc/hosts").read_text()
    assert outside.read_text() == "not to be touched"


def test_the_page_is_made_from_the_newest_commits_runs(tmp_path: Path) -> None:
    results = Results(tmp_path / "bare.jsonl")
    page = tmp_path / "page.md"
    page.write_text(f"before\n\n{BEGIN}\n{END}\nafter\n")
    with pytest.raises(Trouble, match="has no run"):
        write_document(results, page)
    results.add(MACHINE)
    results.add(_cell(status=1, commit="old", failures=("an old failure",)))
    results.add(_cell())
    results.add(_cell(status=None, failures=("test_e - Timeout",)))
    write_document(Results(tmp_path / "bare.jsonl"), page)
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith(f"{END}\nafter\n")
    row = (
        "| Debian 12 | 3.11.2 | an ordinary user | `make test` | 2 | **1 of 2** passed | 10 passed"
    )
    assert row in text
    assert len({line.count("|") for line in text.splitlines() if line.startswith("|")}) == 1
    assert f"    {ASKED}\n" in text
    assert "test_e - Timeout" in text
    assert "an old failure" not in text


def test_short_cases_come_first() -> None:
    keys = [case.key for case in cases(["bookworm"], ["root", "user"], ["run", "test"])]
    assert keys[:2] == ["bookworm-root-run", "bookworm-user-run"]
    assert len(keys) == 4


def test_without_root_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "root" in systems.trouble()


def test_a_layer_is_used_and_gone(tmp_path: Path) -> None:
    """With this machine's own programs for a system, made visible in an empty one."""
    if why_not := systems.trouble():
        pytest.skip(why_not)
    if not (ROOT / ".git").exists():
        pytest.skip("this copy of the checkout has no repository to clone")
    base = tmp_path / "base"
    for name in ("etc", "mnt", "proc", "root", "run", "sys", "tmp", "dev"):
        (base / name).mkdir(parents=True)
    for name in ("bin", "lib", "lib64", "sbin"):
        (base / name).symlink_to(f"usr/{name}")
    log = tmp_path / "log"
    with systems.cache(tmp_path / "cache") as folder:
        with pytest.raises(Trouble, match="another"), systems.cache(folder):
            pass
        with systems.layer(folder, base, Case("made", "root", "run"), {"A": "b"}) as layer:
            with (layer.folder / "binds").open("a") as binds:
                binds.write("/usr\n")
            with log.open("wb") as out:
                line = "echo $A $$ $(id -u) $HOME; touch /root/x; test -c /dev/net/tun; exit 3"
                assert layer.run("root", line, out.fileno(), 20) == 3
                assert layer.run("root", "ls /root /mnt; sleep 100", out.fileno(), 2) is None
                assert layer.run("root", "touch /usr/x", out.fileno(), 20) == 1
            assert not list(folder.glob("*.part"))
        assert [left.name for left in folder.iterdir()] == ["lock"]
    said = log.read_text()
    assert re.match(r"b \d{1,3} 0 /root\n", said), said
    assert "advisor.bundle" in said
    assert not (base / "root/x").exists()
    assert str(tmp_path) not in Path("/proc/mounts").read_text()
