"""`advisor config`: where the configuration is, what it says, and whether it can be used."""

from pathlib import Path

import click
import msgspec

from advisor.cli.advise.command import advise
from advisor.cli.config import configuration as c
from advisor.cli.interface import checked_settings

_HEAD = """\
# Configuration of advisor. What is typed on the command line goes before what is said here.
# Remove the # before a line to use it. The words are the long options of 'advisor advise'.

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


@click.group()
def config() -> None:
    """Show, make and check the configuration file."""


@config.command()
def path() -> int:
    """Print where the file is looked for."""
    click.echo(c.path())
    return 0


@config.command()
def show() -> int:
    """Print what is set, and where it was said; then what may be set."""
    said = c.load()
    click.echo(f"{c.path()}{'' if c.path().is_file() else '  (there is no such file)'}")
    for where, word, value in c.entries(said):
        click.echo(f"  {where + ' ' if where else ''}{word} = {c.as_typed(value)}")
    set_words = msgspec.to_builtins(said.advise)
    free = [word for word in c.words(c.Sessions) if word not in set_words]
    click.echo(f"as built in: {', '.join(free)}")
    return 0


@config.command()
def schema() -> int:
    """Print the JSON schema of the file, for editors and other programs."""
    click.echo(msgspec.json.format(msgspec.json.encode(msgspec.json.schema(c.Configuration))))
    return 0


@config.command()
def init() -> int:
    """Write a file with every word in it, none of them in use yet."""
    file = c.path()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as new:
            new.write(_template())
    except FileExistsError:
        raise click.UsageError(f"{file} is there already: edit it, or move it away") from None
    except OSError as error:
        raise click.UsageError(f"{file}: {error.strerror}") from None
    click.echo(file)
    return 0


def _template() -> str:
    lines = []
    for word in c.words(c.Sessions):
        option = option_of(word)
        lines += [f"# {option.help}", f'# {word} = "{_example(option)}"']
    from advisor.tui.settings import key_names

    keys = [f'# {name} = "…"  # {what}' for name, what in key_names().items()]
    return "\n".join([_HEAD, *lines, _HOSTS, *keys, ""])


def _example(option: click.Option) -> str:
    # Click says "unset" by an object of its own.
    return str(option.default) if isinstance(option.default, str | int) else "…"


@config.command()
def validate() -> int:
    """Check every word and value of the file."""
    said = list(c.entries(c.load()))
    context = click.Context(advise, info_name="advise")
    checked_settings()
    for where, word, value in said:
        if where in ("[screen]", "[keys]"):
            continue
        if word == "store":
            _check_directory(Path(str(value)))
            continue
        try:
            option = option_of(word)
            typed = c.as_typed(value)
            option.type_cast_value(context, typed.split(",") if option.multiple else typed)
        except click.BadParameter as error:
            raise c.BadConfiguration(f"{c.path()}: {where} {word}: {error.message}") from None
    click.echo(f"{c.path()}: {'good' if said else 'nothing is set'}")
    return 0


def _check_directory(directory: Path) -> None:
    if directory.exists() and not directory.is_dir():
        raise c.BadConfiguration(f"{c.path()}: store: {directory} is no directory")


def option_of(word: str) -> click.Option:
    """The option of `advisor advise` that a word stands for."""
    name = c.parameter(word)
    for parameter in advise.params:
        if isinstance(parameter, click.Option) and parameter.name == name:
            return parameter
    raise KeyError(word)
