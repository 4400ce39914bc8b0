"""The commands, run in the process of the tests."""

import sys
from collections.abc import Iterator
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.testing import CliRunner, Result

from advisor.cli.main import cli


def invoke(
    command: TyperCommand | TyperGroup, words: list[str], *, standalone_mode: bool = True
) -> Result:
    """The command's output, and the exit code or exception that it ended with.

    Not `CliRunner.invoke`: that takes applications, and draws errors in boxes.
    """
    markup, command.rich_markup_mode = command.rich_markup_mode, None
    runner = CliRunner()
    value: Any = None
    problem: BaseException | None = None
    with runner.isolation() as streams:
        try:
            value = command.main(words, prog_name=command.name, standalone_mode=standalone_mode)
            code = 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0
            problem = ended if code else None
        except typer.TyperException as error:
            code, problem = error.exit_code, error
            if standalone_mode:
                typer.echo(f"Error: {error.format_message()}", err=True)
        except Exception as error:  # noqa: BLE001 - whatever it is, the test looks at it
            code, problem = 1, error
        finally:
            command.rich_markup_mode = markup
        sys.stdout.flush()
        sys.stderr.flush()
        out, err, both = (one.getvalue() for one in streams[:3])
    return Result(
        runner=runner,
        stdout_bytes=out,
        stderr_bytes=err,
        output_bytes=both,
        return_value=value,
        exit_code=code,
        exception=problem,
    )


def every_command(
    group: TyperGroup = cli, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], TyperCommand | TyperGroup]]:
    """All commands and groups below `advisor`, each with its words."""
    context = typer.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert isinstance(command, TyperCommand | TyperGroup)
        yield (*path, name), command
        if isinstance(command, TyperGroup):
            yield from every_command(command, (*path, name))
