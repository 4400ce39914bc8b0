"""What a user, a script or a plugin can name is documented, and generated pages are current."""

import inspect
import re
from pathlib import Path

import msgspec
import pytest
from typer.core import TyperArgument, TyperCommand

import advisor
from advisor.cli.config import configuration
from advisor.cli.manual.pages import pages, topic_of
from advisor.domain.orders import Order
from advisor.notebook import tables
from advisor.report.ndjson import schema
from advisor.tui.settings import key_names
from scripts.manual_nav import nav
from tests.commands import every_command
from tests.manual.configuration import OTHERS
from tests.manual.events import tag_of
from tests.manual.pages import FOLDER, generated
from tests.manual.plugin_api import public_names

DOCS = Path(__file__).parents[2] / "docs"
COMMANDS = (FOLDER / "commands.md").read_text()
EVENT_FIELDS = (FOLDER / "event-fields.md").read_text()
KEYS = (FOLDER / "configuration-keys.md").read_text()


def section(text: str, heading: str) -> str:
    """What stands below a heading of the second or third level; "" without one."""
    found = re.search(
        rf"^##+ {re.escape(heading)}\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL
    )
    return found[1] if found else ""


@pytest.mark.parametrize("name", generated())
def test_generated_pages_are_current(name: str) -> None:
    now = (FOLDER / name).read_text()
    assert now == generated()[name], "python -m tests.manual makes them"


def test_no_page_is_left_of_a_former_generator() -> None:
    assert {page.name for page in FOLDER.iterdir()} == set(generated())


@pytest.mark.parametrize(("words", "command"), every_command(), ids=lambda one: str(one)[:30])
def test_every_command_has_a_page_and_every_option_a_row(
    words: tuple[str, ...], command: TyperCommand
) -> None:
    assert topic_of(words) in pages()
    own = section(COMMANDS, " ".join(["advisor", *words]))
    assert own
    for one in command.params:
        named = (
            [(one.metavar or one.name).strip("[]")] if isinstance(one, TyperArgument) else one.opts
        )
        for name in named:
            assert re.search(rf"^\| .*`{re.escape(name)}[ `].*\| .+\w.* \|$", own, re.MULTILINE), (
                name
            )


def test_every_event_and_every_field_of_it_is_there() -> None:
    prose = (DOCS / "events.md").read_text()
    for name, one in schema()["$defs"].items():
        tag = tag_of(one)
        own = section(EVENT_FIELDS, tag or name)
        assert re.search(r"\w", own), name
        assert one.get("description"), f"{name} has no docstring"
        assert not tag or f"`{tag}`" in prose
        fields = set(one.get("properties", {})) - {"event"}
        assert {f for f in fields if f"| `{f}` |" not in own} == set(), name


def test_every_order_is_there() -> None:
    prose = (DOCS / "events.md").read_text()
    for order in Order.__subclasses__():
        assert f'"order": "{order.__struct_config__.tag}"' in prose


def test_every_key_of_the_configuration_is_there() -> None:
    def rows(heading: str) -> set[str]:
        return set(re.findall(r"^\| `([^`]+)` \| .*\w.* \|$", section(KEYS, heading), re.MULTILINE))

    whole = configuration.Configuration()
    for field in msgspec.structs.fields(configuration.Configuration):
        value = getattr(whole, field.name)
        if field.name == "hosts":
            assert rows('[hosts."NAME"]') == set(configuration.keys_of(configuration.HostTable))
        elif field.name == "keys":
            assert rows("[keys]") == set(key_names())
        elif isinstance(value, msgspec.Struct):
            assert rows(f"[{field.name}]") == set(configuration.keys_of(type(value)))
        else:
            assert field.encode_name in rows("Outside of tables")
    assert set(OTHERS) == {"store", *configuration.keys_of(configuration.Screen)}


def test_every_public_name_for_plugins_has_a_docstring() -> None:
    found = {
        f"{module}.{one.name}": one for module, names in public_names().items() for one in names
    }
    assert len(found) > 100
    assert [name for name, one in found.items() if not one.about.strip()] == []


def test_the_page_on_python_names_everything() -> None:
    text = (DOCS / "python.md").read_text()
    named = set(re.findall(r"`(?:advisor\.)?([a-z_A-Z]+)(?:\(\))?`", text))
    methods = [name for name in vars(advisor.Advising) if not name.startswith("_")]
    for function in (advisor.advise, advisor.history):
        assert set(inspect.signature(function).parameters) - {"kind"} <= named
    assert 'kind="sessions"' in text
    assert {*advisor.__all__, *methods} <= named
    assert {*tables._PROBE_COLUMNS, *tables._SESSION_COLUMNS} <= named


def test_every_page_says_what_the_reader_can_do_after_it() -> None:
    for topic, page in pages().items():
        # Benchmarks begin with the command that makes them again.
        if not topic.startswith("benchmarks"):
            assert re.search(
                r"^After this page you (can|have|know) ", page.read_text(), re.MULTILINE
            ), topic


def test_the_index_leads_to_every_page() -> None:
    index = (DOCS / "index.md").read_text()
    listed = [
        path
        for part in nav(index)[1:]
        for pages_ in part.values()
        for one in pages_
        for path in one.values()
    ]
    assert sorted(listed) == sorted(set(listed))
    assert {DOCS / path for path in listed} == set(pages().values()) - {DOCS / "index.md"}
    assert len(nav(index)) == 1 + len(
        ["scientist", "operator", "administrator", "author", "benchmarks"]
    )
    for topic, path in re.findall(r"^- `([a-z-]+)`: \[[^\]]+\]\(([^)]+)\)", index, re.MULTILINE):
        assert pages()[topic] == DOCS / path
