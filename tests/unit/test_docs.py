"""What the documentation promises is there, and what is there is documented."""

import re
from pathlib import Path

import typer
from typer.core import TyperOption

from advisor.cli.main import cli
from advisor.report.ndjson import schema, schema_text

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
    assert len(tags) == 34
    text = (ROOT / "docs/events.md").read_text()
    assert {tag for tag in tags if f"`{tag}`" not in text} == set()


def test_every_option_has_a_help_text_or_a_telling_default() -> None:
    context = typer.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        assert command.help
        for parameter in command.params:
            if isinstance(parameter, TyperOption):
                assert parameter.help or parameter.show_default, f"{name} {parameter.name}"


def test_every_command_is_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text()
    context = typer.Context(cli)
    assert [n for n in cli.list_commands(context) if f"advisor {n}" not in readme] == []


def test_links_in_the_documentation_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("profiles/*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"
