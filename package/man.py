"""Man pages of all commands, written from the commands themselves: `python -m package.man FOLDER`.

click-man cannot do this: Typer brings its own copy of click, whose commands it does not know.
"""

import inspect
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import advisor
from advisor.cli.main import cli

_PROGRAM = "advisor"


def pages(seconds: float) -> Iterator[tuple[str, str]]:
    """The name and text of each page. `seconds`: the Unix time of the release."""
    date = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
    context = cli.make_context(_PROGRAM, [], resilient_parsing=True)
    yield from _pages(cli, context, [_PROGRAM], date)


def _pages(command: Any, context: Any, words: list[str], date: str) -> Iterator[tuple[str, str]]:
    subcommands = _subcommands(command, context)
    yield "-".join(words) + ".1", _page(command, context, words, list(subcommands), date)
    for name, below in subcommands.items():
        inside = below.make_context(name, [], parent=context, resilient_parsing=True)
        yield from _pages(below, inside, [*words, name], date)


def _subcommands(command: Any, context: Any) -> dict[str, Any]:
    names = command.list_commands(context) if hasattr(command, "list_commands") else []
    found = ((name, command.get_command(context, name)) for name in names)
    return {name: one for name, one in found if one is not None and not one.hidden}


def _page(command: Any, context: Any, words: list[str], below: list[str], date: str) -> str:
    name = "-".join(words)
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [
        f'.TH "{name.upper()}" "1" "{date}" "advisor {advisor.__version__}" "User Commands"',
        ".SH NAME",
        f"{_text(name)} \\- {_text(_summary(command))}",
        ".SH SYNOPSIS",
        f"\\fB{_text(' '.join(words))}\\fR {_text(usage)}",
        ".SH DESCRIPTION",
        *_description(command),
        *_parameters(command, context),
        *_see(words, below),
    ]
    return "\n".join(lines) + "\n"


def _summary(command: Any) -> str:
    return inspect.cleandoc(command.help or "").partition("\n\n")[0].replace("\n", " ").rstrip(".")


def _description(command: Any) -> Iterator[str]:
    r"""The help; as in the help, a paragraph that begins with `\b` keeps its lines."""
    for number, block in enumerate(inspect.cleandoc(command.help or "").split("\n\n")):
        if number:
            yield ".PP"
        if block.startswith("\b\n"):
            yield from (".nf", *map(_line, block.split("\n")[1:]), ".fi")
        else:
            yield _line(" ".join(block.split()))


def _parameters(command: Any, context: Any) -> Iterator[str]:
    records = [one.get_help_record(context) for one in command.get_params(context)]
    known = [record for record in records if record]
    if known:
        yield ".SH OPTIONS"
    for names, text in known:
        yield from (".TP", f"\\fB{_text(names)}\\fR", _line(" ".join(text.split())))


def _see(words: list[str], below: list[str]) -> Iterator[str]:
    pages = ["-".join([*words, name]) for name in below]
    if len(words) > 1:
        pages.insert(0, "-".join(words[:-1]))
    if pages:
        yield ".SH SEE ALSO"
        yield ",\n".join(f"\\fB{_text(page)}\\fR(1)" for page in pages)


def _text(text: str) -> str:
    return text.replace("\\", "\\e").replace("-", "\\-")


def _line(text: str) -> str:
    """A line of text: one that begins as an instruction of troff is none."""
    shown = _text(text)
    return f"\\&{shown}" if shown[:1] in (".", "'") else shown


def write(folder: Path, seconds: float) -> list[Path]:
    """Write all pages into the folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, text in pages(seconds):
        path = folder / name
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written


if __name__ == "__main__":
    write(Path(sys.argv[1]), float(sys.argv[2]))
