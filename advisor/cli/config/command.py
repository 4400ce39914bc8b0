"""`advisor config`: shows, creates and checks the configuration file."""

from pathlib import Path

import msgspec
import typer
from typer.core import TyperOption

from advisor.cli.advise.command import advise
from advisor.cli.commands import command, group
from advisor.cli.config import configuration as c
from advisor.cli.errors import UsageError
from advisor.cli.interface import checked_settings

_HEAD = """\
# Configuration of advisor. Options on the command line take precedence.
# Remove the # before a line to use it. The keys are the long options of 'advisor advise'.

# store = "/data/advisor/history"

[advise]
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
    typer.echo(c.path())
    return 0


@command()
def show() -> int:
    """Print the keys that are set, with their tables; then the keys that are not set."""
    said = c.load()
    typer.echo(f"{c.path()}{'' if c.path().is_file() else '  (there is no such file)'}")
    for where, word, value in c.entries(said):
        typer.echo(f"  {where + ' ' if where else ''}{word} = {c.as_typed(value)}")
    set_words = c.defaults(said.advise)
    free = [word for word in c.words(c.Sessions) if c.parameter(word) not in set_words]
    typer.echo(f"as built in: {', '.join(free)}")
    return 0


@command()
def schema() -> int:
    """Print the JSON schema of the file, for editors and other programs."""
    typer.echo(msgspec.json.format(msgspec.json.encode(msgspec.json.schema(c.Configuration))))
    return 0


@command()
def init() -> int:
    """Write a file with every key in it, each commented out."""
    file = c.path()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as new:
            new.write(_template())
    except FileExistsError:
        raise UsageError(f"{file} is there already: edit it, or move it away") from None
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from None
    typer.echo(file)
    return 0


def _template() -> str:
    lines = []
    for word in c.words(c.Sessions):
        option = option_of(word)
        lines += [f"# {option.help}", f'# {word} = "{_example(option)}"']
    from advisor.tui.settings import key_names

    keys = [f'# {name} = "…"  # {what}' for name, what in key_names().items()]
    return "\n".join([_HEAD, *lines, _HOSTS, *keys, ""])


def _example(option: TyperOption) -> str:
    default = option.default
    return c.as_typed(default) if isinstance(default, str | int | list) else "…"


@command()
def validate() -> int:
    """Check every key and value of the file."""
    said = list(c.entries(c.load()))
    checked_settings()
    for where, word, value in said:
        if where in ("[screen]", "[keys]"):
            continue
        if word == "store":
            _check_directory(Path(str(value)))
            continue
        problem = _problem(option_of(word), c.as_typed(value))
        if problem:
            raise c.BadConfiguration(f"{c.path()}: {where} {word}: {problem}")
    typer.echo(f"{c.path()}: {'good' if c.path().is_file() else 'nothing is set'}")
    return 0


def _problem(option: TyperOption, typed: str) -> str | None:
    """Why the option does not accept this value, None if it does."""
    context = typer.Context(advise, info_name="advise", resilient_parsing=True)
    try:
        option.process_value(context, typed.split(",") if option.multiple else typed)
    except typer.BadParameter as error:
        return error.message
    return None


def _check_directory(directory: Path) -> None:
    if directory.exists() and not directory.is_dir():
        raise c.BadConfiguration(f"{c.path()}: store: {directory} is no directory")


def option_of(word: str) -> TyperOption:
    """The option of `advisor advise` with this key."""
    name = c.parameter(word)
    for parameter in advise.params:
        if isinstance(parameter, TyperOption) and parameter.name == name:
            return parameter
    raise KeyError(word)


for _command in (path, show, schema, init, validate):
    config.add_command(_command)
