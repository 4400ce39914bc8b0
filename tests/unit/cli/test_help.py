"""`advisor help`: pages in the terminal, and the page that the help of each command names."""

import inspect
import re
from pathlib import Path

import pytest
from typer.core import TyperCommand

from advisor.cli.main import cli, main
from advisor.cli.manual import pages as manual
from tests.commands import every_command, invoke

DOCS = Path(__file__).parents[3] / "docs"


def printed(*words: str) -> str:
    done = invoke(cli, list(words))
    assert done.exit_code == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ([], "index.md"),
        (["verify"], "verify.md"),
        (["advise"], "advice.md"),
        (["history", "sessions"], "history.md"),
        (["plugin-api"], "reference/plugin-api.md"),
    ],
)
def test_a_topic_or_command_is_printed_where_no_terminal_is(words: list[str], page: str) -> None:
    assert printed("help", *words) == (DOCS / page).read_text()


def test_a_wrong_topic_names_near_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["help", "tranfser"])
    assert ended.value.code == 2
    output = capsys.readouterr().err
    assert "no page on 'tranfser': did you mean transfer" in output
    assert len(output.splitlines()) == 1


@pytest.mark.parametrize(
    "topic", ["../README", "/etc/passwd", "advice.md", "\x1b[31m", "--", "zzz"]
)
def test_nothing_but_a_topic_is_opened(topic: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["help", "--plain", "--", topic])
    assert ended.value.code == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert "\x1b" not in output.err


def test_topics_are_completed() -> None:
    from advisor.cli.manual.command import topics

    assert {"plan", "plugin-api"} <= set(topics("pl"))


def test_without_its_pages_it_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(manual, "__file__", str(tmp_path / "advisor/cli/manual/pages.py"))
    with pytest.raises(SystemExit):
        main(["help"])
    assert "the manual is missing: install advisor again" in capsys.readouterr().err


@pytest.mark.parametrize(("words", "command"), every_command(), ids=lambda one: str(one)[:30])
def test_the_help_of_every_command_names_its_page(
    words: tuple[str, ...], command: TyperCommand
) -> None:
    topic = manual.topic_of(words)
    assert manual.manual_line(words) == f"Manual: advisor help {topic}".removesuffix(" index")
    # Drawing one of each group is enough: the line is added in one place.
    if len(words) == 1:
        shown = printed(*words, "--help")
        assert re.search(rf"^ *{manual.manual_line(words)}\s*$", shown, re.MULTILINE)


def test_the_overview_leads_to_the_manual() -> None:
    assert "Manual: advisor help\n" in printed("--help")


@pytest.mark.parametrize(("words", "command"), every_command(), ids=lambda one: str(one)[:30])
def test_nothing_of_the_help_is_cut_at_80_columns(
    words: tuple[str, ...], command: TyperCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = printed(*words, "--help")
    for line in shown.splitlines():
        assert not re.search(r"--[\w-]*…", line), line
        assert not re.search(r"<[\w|.-]*(?=\s)", line), line
    text = inspect.getdoc(command.callback) or ""
    examples = [block.split("\n\n")[0] for block in text.split("\b\n")[1:]]
    for line in "\n".join(examples).splitlines():
        assert line in shown, line


@pytest.mark.parametrize(("words", "command"), every_command(), ids=lambda one: str(one)[:30])
def test_arguments_that_are_repeated_say_so(words: tuple[str, ...], command: TyperCommand) -> None:
    repeated = [one for one in command.params if one.nargs == -1]
    for one in repeated:
        assert words in {("help",), ("lab", "exec")} or (one.metavar or "").endswith("…")
