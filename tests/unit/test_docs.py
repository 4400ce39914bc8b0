"""What the documentation promises is there, and what is there is documented."""

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import typer
from typer.core import TyperCommand, TyperGroup

from advisor.cli.main import cli
from advisor.report.ndjson import schema, schema_text
from tests.commands import every_command

ROOT = Path(__file__).parents[2]


def test_the_schema_in_the_documentation_is_the_programs() -> None:
    assert (ROOT / "docs/events.schema.json").read_text() == schema_text()


def test_every_event_is_described() -> None:
    tags = {
        definition["properties"]["event"]["const"]
        if "const" in definition["properties"]["event"]
        else definition["properties"]["event"]["enum"][0]
        for definition in schema()["$defs"].values()
        if "event" in definition.get("properties", {})
    }
    assert len(tags) == 41
    text = (ROOT / "docs/events.md").read_text()
    assert {tag for tag in tags if f"`{tag}`" not in text} == set()


@pytest.mark.parametrize(("words", "command"), every_command(), ids=lambda one: str(one)[:30])
def test_every_option_of_every_command_has_a_sentence(
    words: tuple[str, ...], command: TyperCommand
) -> None:
    assert command.help
    for one in command.params:
        help_text = getattr(one, "help", None) or ""
        assert re.search(r"\w{2,}.* .*[.)]$", help_text), (
            f"{' '.join(words)}: {one.name}: {help_text!r}"
        )


def test_every_command_is_in_the_table_of_the_readme() -> None:
    rows = re.findall(r"^\| `advisor ([a-z-]+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert sorted(rows) == sorted(cli.list_commands(typer.Context(cli)))


def manual() -> dict[str, str]:
    """Every page with commands, its continued lines joined. The reference has usage lines."""
    found = [ROOT / "README.md", ROOT / "profiles/README.md", *sorted(ROOT.glob("docs/*.md"))]
    return {page.name: page.read_text().replace("\\\n", " ") for page in found}


def shell_lines(text: str, program: str) -> list[str]:
    """What is typed for this program: in blocks, between backticks, and in other commands."""
    indent = " *" if program == "advisor" else " {4,}"
    before = r"(?:\$ |[A-Z_]+=\S+ |nice (?:-n \d+ )?)*"
    return [
        *re.findall(rf"^{indent}{before}({program}(?: .*)?)$", text, re.MULTILINE),
        *re.findall(rf"`{before}({program} [^`\n]+)`", text),
        *re.findall(rf"\$\(({program} [^)\n]+)\)", text),
    ]


def examples() -> Iterator[tuple[str, list[str]]]:
    """Every command line of `advisor`, with its page."""
    for page, text in manual().items():
        for line in shell_lines(text, "advisor"):
            # What the shell puts in is a line of its own.
            line = re.sub(r"\$\(.*\)", "WORD", line)
            for part in re.split(r"[;|] ", line):
                words = shlex.split(part, comments=True)
                while "advisor" in words:
                    # What a lab runs is a command too.
                    words = words[words.index("advisor") + 1 :]
                    yield page, words


_PATHS = {"path", "file", "directory"}


def parsed(group: TyperGroup, words: list[str]) -> None:
    """Raise an exception for what the command does not know. Files need not be there."""
    context = typer.Context(group)
    _, rest, _ = group.make_parser(context).parse_args(list(words))
    if not rest:
        return
    name, command, rest = group.resolve_command(context, rest)
    assert command is not None, f"there is no {name}"
    if isinstance(command, TyperGroup):
        parsed(command, rest)
        return
    below = typer.Context(command, info_name=name)
    options, left, _ = command.make_parser(below).parse_args(rest)
    assert not left, f"too much: {left}"
    for one in command.params:
        value = options.get(one.name)
        if one.type.name in _PATHS or one.name == "data" or PLACEHOLDER.search(str(value)):
            continue
        one.process_value(below, value if value is not None else one.get_default(below))


PLACEHOLDER = re.compile(r"[A-Z]{3,}|…|None")


@pytest.mark.parametrize(("page", "words"), examples(), ids=lambda one: str(one)[:60])
def test_the_command_takes_every_example(page: str, words: list[str]) -> None:
    parsed(cli, words)


def other_examples(program: str) -> list[tuple[str, list[str]]]:
    """What the manual has developers type for `make` or `python`."""
    return [
        (page, shlex.split(line, comments=True)[1:])
        for page, text in manual().items()
        for line in shell_lines(text, program)
    ]


@pytest.mark.parametrize(("page", "words"), other_examples("make"), ids=lambda one: str(one)[:60])
def test_what_is_made_is_a_target(page: str, words: list[str]) -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {word for word in words if "=" not in word} <= set(targets)


@pytest.mark.parametrize(("page", "words"), other_examples("python"), ids=lambda one: str(one)[:60])
def test_a_module_that_a_page_runs_is_there_with_its_options(page: str, words: list[str]) -> None:
    name = words[1].replace(".", "/") if words[0] == "-m" else words[0].removesuffix(".py")
    if not name.startswith(("tests/", "package/")):
        return
    file = ROOT / f"{name}.py"
    files = [*file.parent.glob("*.py"), *file.with_suffix("").rglob("*.py")]
    assert file in files or file.with_suffix("").is_dir()
    source = "\n".join(one.read_text() for one in files)
    own = words[: words.index("--")] if "--" in words else words
    options = {word.partition("=")[0] for word in own if word.startswith("--")}
    assert {option for option in options if option not in source} == set()


@cache
def anchors(page: Path) -> set[str]:
    """What links into a page can name: its headings, as the site and GitHub write them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\s-]", "", one.lower()).strip().replace(" ", "-") for one in headings}


def test_links_in_the_documentation_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("profiles/*.md")]:
        # In code brackets and parentheses are no link.
        text = re.sub(
            r"^```.*?^```|`[^`\n]+`", "", page.read_text(), flags=re.MULTILINE | re.DOTALL
        )
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            file, _, anchor = target.partition("#")
            if "://" not in target:
                there = page.parent / file if file else page
                assert there.exists(), f"{page.name}: {target}"
                assert not anchor or anchor in anchors(there), f"{page.name}: {target}"
