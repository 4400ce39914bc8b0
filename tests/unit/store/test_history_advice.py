"""`advisor history advice`: the stored advice in each format."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import yaml
from typer.testing import Result

from advisor.cli.history.command import history
from advisor.domain.advice import Advice, Command, Limit
from advisor.domain.records import AdviceRecord
from advisor.models.host_tuning import WMEM_MAX, sysctl_line
from advisor.report.advice_formats import FORMATS
from advisor.store.history import Store
from tests.commands import invoke

PAIR = "dtn2.example.org"
LINE = ["globus-url-copy", "-p", "4", "file:///data/run", "ftp://dtn2.example.org/run"]


@pytest.fixture
def store(tmp_path: Path, make_advice: Callable[..., AdviceRecord]) -> Store:
    made = Store(tmp_path / "store")
    for session, when in (("20261101T000000Z-a", 1000.0), ("20261102T000000Z-b", 2000.0)):
        record = make_advice(session, when)
        advice = msgspec.structs.replace(
            record.advice,
            commands=[
                Command(tool="globus-url-copy", side="source", argv=LINE, shell=" ".join(LINE))
            ],
            limits=[Limit(what="small", side="source", remedy=sysctl_line(WMEM_MAX, 67108864))],
        )
        made.append(msgspec.structs.replace(record, advice=advice))
    return made


@pytest.fixture
def run(store: Store) -> Callable[..., Result]:
    def call(*arguments: str) -> Result:
        return invoke(history, ["advice", *arguments, "--store", store.argument])

    return call


def test_without_a_format_it_is_the_text_of_the_newest(run: Callable[..., Result]) -> None:
    found = run(PAIR)
    assert found.exit_code == 0
    assert found.stdout.startswith("Advice for ")
    assert "20261102T000000Z-b" in found.stdout


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_is_printed_and_written_alike(
    run: Callable[..., Result], tmp_path: Path, name: str
) -> None:
    printed = run(PAIR, "--format", name)
    assert (printed.exit_code, printed.stderr) == (0, "")
    file = tmp_path / "out"
    assert run(PAIR, "--format", name, "--output", str(file)).stdout == ""
    assert file.read_text() == printed.stdout
    assert file.read_bytes()[-1:] == b"\n"


def test_a_session_can_be_named_by_its_beginning(run: Callable[..., Result]) -> None:
    found = run(PAIR, "--session", "20261101", "--format", "json")
    advice = msgspec.json.decode(found.stdout, type=Advice, strict=False)
    assert advice.session == "20261101T000000Z-a"
    assert json.loads(run(PAIR, "--format", "json").stdout)["session"] == "20261102T000000Z-b"


def test_the_playbook_is_read_by_a_parser_of_yaml(run: Callable[..., Result]) -> None:
    [play] = yaml.safe_load(run(PAIR, "--format", "ansible").stdout)
    assert play["hosts"] == "dtn1.example.org"


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        (["--session", "202611"], "UsageError", "2 sessions begin with it"),
        (["--session", "1999"], "UsageError", "no advice for"),
        (["--format", "fax"], 2, "fax"),
        (["--format", "json", "--output", "/nowhere/x"], "CommandFailed", "cannot write"),
    ],
)
def test_what_cannot_be_is_said(
    run: Callable[..., Result], arguments: list[str], status: object, sentence: str
) -> None:
    found = run(PAIR, *arguments)
    assert status in (found.exit_code, type(found.exception).__name__)
    assert sentence in found.stderr + str(found.exception)


def test_a_terminal_is_shown_no_control_characters(store: Store) -> None:
    advice = store.records(store.pairs()[0].pair)[-1]
    assert isinstance(advice, AdviceRecord)
    evil = Command(tool="x", side="source", argv=["touch", "a\x1b]0;b\x07"], shell="touch a")
    store.append(
        msgspec.structs.replace(
            advice,
            recorded_s=3000.0,
            advice=msgspec.structs.replace(advice.advice, commands=[evil]),
        )
    )
    ours, theirs = pty.openpty()
    line = [sys.executable, "-m", "advisor", "history", "advice", PAIR, "--format", "shell"]
    try:
        subprocess.run([*line, "--store", store.argument], stdout=theirs, timeout=60, check=True)
        os.set_blocking(ours, False)
        assert b"\x1b" not in os.read(ours, 65536)
    finally:
        os.close(theirs)
        os.close(ours)
