"""The `advisor` command: its subcommands, each loaded when it is called."""

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any, Final

# Before numpy is loaded, by whatever command. The matrices of a search are small: threads that wait
# for each other take twice the time, ten times where a probe keeps the cores busy, and disturb it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import click

import advisor
from advisor.cli.config import configuration
from advisor.cli.errors import one_sentence

# Name, where it is, and its line in `advisor --help`: help must not load what runs.
_COMMANDS: Final = {
    "advise": (
        "advise.command",
        "Measure the path to DESTINATION and recommend settings.",
    ),
    "resume": ("advise.resume", "Go on with the last interrupted session."),
    "plan": (
        "transfer.plan",
        "Plan how files of all sizes are best moved, and move them.",
    ),
    "transfer": (
        "transfer.command",
        "Move files, and tune the transfer while it runs.",
    ),
    "share": (
        "share.command",
        "Serve several destinations at once, each with its share.",
    ),
    "path": ("advise.path", "Look at the path and both hosts, without any load."),
    "file-io": ("file_io", "Measure how fast a folder is read and written."),
    "verify": (
        "transfer.verify",
        "Compare what arrived at DESTINATION with what was sent.",
    ),
    "history": ("history.command", "List, show, import and export past results."),
    "backtest": (
        "backtest.command",
        "Replay search methods against recorded transfers.",
    ),
    "lab": ("lab.command", "Make an emulated wide-area path on this machine."),
    "agent": ("agent", "Be the other side of somebody's advisor."),
    "plugins": ("plugins", "List methods, transports and tools."),
    "config": ("config.command", "Show, make and check the configuration file."),
    "completion": ("completion", "Print what a shell needs to complete commands."),
    "demo": ("demo", "Show a recorded session, without a second host."),
    "doctor": ("doctor", "Check this host: what is installed, what will limit."),
}


class _Lazy(click.Group):
    """Imports a command's module when that command is wanted, and no other's."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"advisor.cli.{_COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])


@click.group(
    cls=_Lazy,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(advisor.__version__, prog_name="advisor")
@click.option("--plain", is_flag=True, help="Without a command: text instead of screens.")
@click.option(
    "--open",
    "screen",
    type=click.Choice(["home", "where", "what", "path", "history", "review", "lab"]),
    default="home",
    help="Without a command: the screen to begin with.",
)
@click.pass_context
def cli(context: click.Context, plain: bool, screen: str) -> int | None:
    """Measure the path between two hosts, and get globus-url-copy and xdd command lines that are
    measurably better than the defaults.

    Without a command, on a terminal, it opens screens that walk you through it; 'advisor advise
    localhost' and 'advisor advise [USER@]HOST' do the same as text.
    """
    if context.invoked_subcommand is None:
        from advisor.cli import interface

        if not plain and interface.is_possible():
            return interface.open_interface(screen)
        interface.plain_report()
    elif context.invoked_subcommand in ("advise", "path"):
        context.default_map = configuration.default_map()
    return None


def main(arguments: Sequence[str] | None = None) -> Any:
    """Run the command; usage errors are one sentence on standard error and exit code 2."""
    try:
        status = cli.main(args=arguments, standalone_mode=False)
    except click.ClickException as error:
        click.echo(one_sentence(error), err=True)
        status = error.exit_code
    except click.Abort:
        status = 130
    except BrokenPipeError:
        # Whoever read our output has left, as `head` does. What was measured is stored.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    sys.exit(status if isinstance(status, int) else 0)
