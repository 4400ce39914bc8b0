"""The `advisor` command: its subcommands, each loaded when it is called."""

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, get_args

# Before numpy is loaded, by whatever command. The matrices of a search are small: threads that wait
# for each other take twice the time, ten times where a probe keeps the cores busy, and disturb it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import typer

import advisor
from advisor import faults
from advisor.cli.commands import LazyGroup, group
from advisor.cli.streams import drop, lost_output, prepare_streams
from advisor.cli.utf8 import use_utf8
from advisor.report.output import say
from advisor.store.errors import StoreError
from advisor.tui.screens import FirstScreen


class _Advisor(LazyGroup):
    modules: ClassVar = {
        "advise": ("advise.command", "Measure the path to DESTINATION and recommend settings."),
        "resume": ("advise.resume", "Continue the last interrupted session."),
        "plan": ("transfer.plan", "Plan how to move files of all sizes, and move them."),
        "transfer": ("transfer.command", "Move files, and tune the transfer while it runs."),
        "share": ("share.command", "Serve several destinations at once, each with its share."),
        "path": ("advise.path", "Check the path and both hosts, without sending any load."),
        "file-io": ("file_io", "Measure how fast a folder is read and written."),
        "verify": ("transfer.verify", "Compare what arrived at DESTINATION with what was sent."),
        "profile": ("profile.command", "Measure a grid of settings, and keep it as a profile."),
        "history": ("history.command", "List, show, import and export past results."),
        "store": ("store.command", "Share a history in PostgreSQL: set up, copy, send."),
        "fleet": ("fleet.command", "Describe many hosts, and plan what is measured between them."),
        "backtest": ("backtest.command", "Replay search methods against recorded transfers."),
        "lab": ("lab.command", "Create an emulated wide-area path on this machine."),
        "agent": ("agent", "Run the agent that a remote advisor connects to."),
        "node": ("node", "Run one node of a transfer over several; started by the transfer."),
        "plugins": ("plugins", "List methods, transports and tools."),
        "config": ("config.command", "Show, create and check the configuration file."),
        "completion": ("completion", "Print what a shell needs to complete commands."),
        "demo": ("demo", "Show a recorded session, without a second host."),
        "help": ("manual.command", "Open a page of the manual."),
        "doctor": ("doctor", "Check this host: what is installed, what limits transfers."),
    }


def _print_version(wanted: bool) -> None:
    if wanted:
        say(f"advisor, version {advisor.__version__}")
        raise typer.Exit


@group(_Advisor, invoke_without_command=True)
def cli(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    plain: Annotated[
        bool, typer.Option("--plain", help="Without a command: text instead of screens.")
    ] = False,
    screen: Annotated[
        FirstScreen,
        typer.Option(
            "--open",
            metavar="SCREEN",
            help=f"Without a command: the first screen, {', '.join(get_args(FirstScreen))}.",
        ),
    ] = "home",
) -> int | None:
    """Measure the path between two hosts, and get globus-url-copy and xdd command lines that are
    measurably better than the defaults.

    Without a command, on a terminal, it opens screens that walk you through it;
    'advisor advise localhost' and 'advisor advise [USER@]HOST' do the same as text.
    """
    # Not where a shell completes a line: it would be printed into what is being typed.
    faults.tell_of_faults(lambda fault: say(f"advisor: {fault}", err=True))
    if context.invoked_subcommand is None:
        from advisor.cli import interface

        if not plain and interface.is_possible():
            return interface.open_interface(screen)
        interface.plain_report()
    return None


def one_sentence(error: typer.TyperException) -> str:
    """The error in one sentence, with the configuration file or a hint at the help."""
    text = " ".join(error.format_message().replace("Value error, ", "").split())
    context = getattr(error, "ctx", None)
    if context is None:
        return f"advisor: {text.rstrip('.')}"
    name = error.param.name if isinstance(error, typer.BadParameter) and error.param else None
    source = context.get_parameter_source(name) if name else None
    if source is not None and source.name == "DEFAULT_MAP":
        from advisor.cli.config import configuration

        return f"advisor: {configuration.path()}: {text}"
    return f"advisor: {text.rstrip('.')} (see '{context.command_path} --help')"


def main(arguments: Sequence[str] | None = None) -> Any:
    """Run the command; usage errors are one sentence on standard error and exit code 2."""
    if arguments is None:
        use_utf8()
        prepare_streams()
    try:
        status = _status(arguments)
        sys.stdout.flush()
    except Exception:  # Whatever it was made of on its way: a session may raise it in a group.
        if not (lost := lost_output()):
            raise
    else:
        lost = lost_output()
    if lost:
        _report(lost)
        status = 1
    sys.exit(status)


def _status(arguments: Sequence[str] | None) -> int:
    try:
        status = cli.main(args=arguments, standalone_mode=False)
    except typer.TyperException as error:
        say(one_sentence(error), err=True)
        return error.exit_code
    except StoreError as error:  # Any command may meet a history that cannot be read or written.
        say(f"advisor: {error}", err=True)
        return 1
    except typer.Abort:
        return 130
    return status if isinstance(status, int) else 0


def _report(lost: OSError) -> None:
    # Of a reader that has left, as `head` does, nothing is said. Measurements are stored.
    if isinstance(lost, BrokenPipeError):
        return
    try:
        say(f"advisor: standard output cannot be written: {lost.strerror}", err=True)
    except OSError:  # It is on the same full disk.
        drop(sys.stderr)
