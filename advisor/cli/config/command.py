"""`advisor config`: shows, creates and checks the configuration file."""

from typing import Any

import msgspec
import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from advisor.cli.commands import command, default_map, group, options_by_word, present_name
from advisor.cli.config import configuration as c
from advisor.cli.config.values import Value, as_typed
from advisor.cli.errors import UsageError
from advisor.cli.interface import checked_settings
from advisor.cli.main import cli
from advisor.report.output import say, say_json
from advisor.store.errors import StoreError
from advisor.store.opening import open_backend

_HEAD = """\
# Configuration of advisor. Options on the command line take precedence.
# Remove the # before a line to use it. The keys are the long options of the commands.

# store = "/data/advisor/history"
"""
_HOSTS = """
# For sessions to one destination; goes before [advise].
# [hosts."dtn02.example.org"]
# bandwidth = "10Gbit"
# server = "gsiftp://dtn02.example.org:2811"

# The terminal interface.
[screen]
# theme = "textual-light"
# drawing = "block"

# Keys of the terminal interface, by the name of what they do.
[keys]
"""


@group()
def config() -> None:
    """Show, create and check the configuration file."""


@command()
def path() -> int:
    """Print the path of the file."""
    say(str(c.path()))
    return 0


@command()
def show() -> int:
    """Print the keys that are set, with their tables; then the keys that are not set."""
    said = c.load()
    say(f"{c.path()}{'' if c.path().is_file() else '  (there is no such file)'}")
    for where, word, value in c.entries(said):
        say(f"  {where + ' ' if where else ''}{word} = {as_typed(value)}")
    for table in c.TABLES:
        own = getattr(said, table)
        free = [word for word in c.keys_of(type(own)) if word not in msgspec.to_builtins(own)]
        say(f"[{table}] as built in: {', '.join(free)}")
    return 0


@command()
def schema() -> int:
    """Print the JSON schema of the file, for editors and other programs."""
    say_json(msgspec.json.format(msgspec.json.encode(msgspec.json.schema(c.Configuration))))
    return 0


@command()
def init() -> int:
    """Write a file with every key in it, each commented out."""
    file = c.path()
    try:
        # Not writable by everyone, whatever the umask: it would not be read.
        for folder in (file.parent.parent, file.parent):
            folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        file.touch(mode=0o644, exist_ok=False)
        file.write_text(_template(), encoding="utf-8")
    except FileExistsError:
        raise UsageError(f"{file} is there already", remedy="edit it, or move it away") from None
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from None
    say(str(file))
    return 0


def _template() -> str:
    lines = [_HEAD]
    for table in c.TABLES:
        called = " and ".join(f"'advisor {' '.join(words)}'" for words in c.TABLES[table])
        lines += [f"# {called}", f"[{table}]"]
        for word in c.keys_of(type(getattr(c.Configuration(), table))):
            option = option_of(table, word)
            lines += [f"# {option.help}", f'# {word} = "{_example(option)}"']
        lines.append("")
    from advisor.tui.settings import key_names

    keys = [f'# {name} = "…"  # {what}' for name, what in key_names().items()]
    return "\n".join([*lines, _HOSTS, *keys, ""])


def _example(option: TyperOption) -> str:
    default = option.default
    return as_typed(default) if isinstance(default, str | int | list) else "…"


@command()
def validate() -> int:
    """Check every key and value of the file."""
    said = list(c.entries(c.load()))
    checked_settings()
    for where, word, value in said:
        if where in ("[screen]", "[keys]"):
            continue
        if word == "store":
            _check_store(str(value))
            continue
        table = where.strip("[]").partition(".")[0]
        if problem := _problem("advise" if table == "hosts" else table, word, value):
            raise c.BadConfiguration(f"{c.path()}: {where} {word}: {problem}")
    say(f"{c.path()}: {'good' if c.path().is_file() else 'nothing is set'}")
    return 0


def _problem(table: str, word: str, value: Value) -> str | None:
    """Why the option does not accept this value, None if it does."""
    word = present_name(word)
    called, option = _command_with(table, word), option_of(table, word)
    context = typer.Context(called, info_name=called.name, resilient_parsing=True)
    try:
        option.process_value(context, default_map(called, {word: value})[option.name or ""])
    except typer.BadParameter as error:
        return error.message
    return None


def _check_store(place: str) -> None:
    try:
        open_backend(place)
    except StoreError as error:
        raise c.BadConfiguration.about(f"{c.path()}: store", error) from None


def option_of(table: str, word: str) -> TyperOption:
    """The option whose default a key of this table is. Raises KeyError."""
    return options_by_word(_command_with(table, word))[word]


def _command_with(table: str, word: str) -> TyperCommand:
    """The first of a table's commands that has this option. Raises KeyError."""
    for words in c.TABLES[table]:
        found: Any = cli
        for name in words:
            assert isinstance(found, TyperGroup)
            found = found.get_command(typer.Context(found), name)
        assert isinstance(found, TyperCommand)
        if word in options_by_word(found):
            return found
    raise KeyError(word)


for _command in (path, show, schema, init, validate):
    config.add_command(_command)
