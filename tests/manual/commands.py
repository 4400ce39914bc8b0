"""The reference of all commands, from the commands themselves."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from advisor.cli.main import cli
from advisor.cli.manual.pages import topic_of
from tests.commands import every_command
from tests.manual.markdown import code, page, plain, table

_OWN_TOPIC = "commands"
_ABOUT = (
    "After this page you know every command with all of its options; `advisor COMMAND --help` "
    "shows the same.\n\nOptions of commands that start sessions can be set in the "
    "[configuration](configuration-keys.md)."
)


def commands_page() -> str:
    """A section for each command and group."""
    every = [((), cli), *every_command()]
    return page("All commands", _ABOUT, [_section(words, command) for words, command in every])


def _section(words: tuple[str, ...], command: TyperCommand | TyperGroup) -> str:
    called = " ".join(["advisor", *words])
    parts = [f"## {called}", f"    {_usage(called, command)}", *_paragraphs(command.help or "")]
    if words:
        topic = topic_of(words)
        parts += [f"Manual: [{topic}](../{topic}.md)"] if topic != _OWN_TOPIC else []
    if isinstance(command, TyperGroup):
        parts.append(f"Commands: {', '.join(map(code, sorted(command.commands)))}")
    options = [one for one in command.params if not getattr(one, "hidden", False)]
    context = typer.Context(command)
    # Typer shows options without a panel first; the order within a panel is that of the command.
    panels = sorted(options, key=lambda one: getattr(one, "rich_help_panel", None) or "")
    for panel, members in groupby(panels, lambda one: getattr(one, "rich_help_panel", None)):
        parts += [f"**{panel}**"] if panel else []
        parts.append(
            table(("option", "default", "meaning"), [_row(context, one) for one in members])
        )
    return "\n\n".join(parts)


def _usage(called: str, command: TyperCommand | TyperGroup) -> str:
    names = [_shown_argument(one) for one in command.params if isinstance(one, TyperArgument)]
    rest = ["COMMAND …"] if isinstance(command, TyperGroup) else []
    return " ".join([called, "[OPTIONS]", *names, *rest])


def _shown_argument(one: TyperArgument) -> str:
    name = (one.metavar or one.name or "").strip("[]")
    many = "…" if one.nargs != 1 and not name.endswith("…") else ""
    return f"{name}{many}" if one.required else f"[{name}{many}]"


def _paragraphs(text: str) -> Iterator[str]:
    """Paragraphs; those that keep their lines are lines to type."""
    for paragraph in text.split("\n\n"):
        lines = paragraph.splitlines()
        yield "\n".join(f"    {line}" for line in lines) if len(lines) > 1 else plain(paragraph)


def _row(context: typer.Context, one: Any) -> tuple[str, str, str]:
    if isinstance(one, TyperArgument):
        name = code((one.metavar or one.name or "").strip("[]"))
    else:
        value = "" if one.is_flag else f" {one.metavar or _kind(context, one)}"
        name = ", ".join(code(f"{word}{value}") for word in [*one.opts, *one.secondary_opts])
    return name, _default(one), plain(one.help or "")


def _kind(context: typer.Context, one: Any) -> str:
    """What an option without a placeholder takes: a path, or one of a few words."""
    kind = one.make_metavar(context).strip("<>")
    return kind.replace("|", "/") if "|" in kind else kind.upper()


def _default(one: Any) -> str:
    """What holds without the option, where that is a value."""
    if isinstance(one.show_default, str):
        return plain(one.show_default)
    default = one.default
    if one.required:
        return "required"
    if default is None or default is False or callable(default) or default in ("", [], ()):
        return ""
    values = default if isinstance(default, list | tuple) else [default]
    return code(", ".join(str(getattr(value, "value", value)) for value in values))
