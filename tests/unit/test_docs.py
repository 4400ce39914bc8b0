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


def examples() -> Iterator[tuple[str, list[str]]]:
    """The command lines in blocks and between backticks, each with its page."""
    for page in [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]:
        text = page.read_text().replace("\\\n", " ")
        lines = re.findall(r"^ *(?:\$ )?(advisor(?: .*)?)$", text, re.MULTILINE)
        for line in [*lines, *re.findall(r"`(advisor [^`\n]+)`", text)]:
            for part in re.split(r"[;|] ", line):
                words = shlex.split(part, comments=True)
                if words[:1] == ["advisor"]:
                    yield page.name, words[1:]


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
        if one.type_descriptor.is_path or one.name == "data" or PLACEHOLDER.search(str(value)):
            continue
        one.process_value(below, value if value is not None else one.get_default(below))


PLACEHOLDER = re.compile(r"[A-Z]{3,}|…|None")


@pytest.mark.parametrize(("page", "words"), examples(), ids=lambda one: str(one)[:60])
def test_the_command_takes_every_example(page: str, words: list[str]) -> None:
    parsed(cli, words)


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
