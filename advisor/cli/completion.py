"""`advisor completion`: what a shell needs to complete commands, options and destinations."""

from typing import Any, Final

import click
from click.shell_completion import CompletionItem, get_completion_class

from advisor.cli.config.configuration import BadConfiguration
from advisor.cli.options import configured_store
from advisor.store.history import Store

_VARIABLE: Final = "_ADVISOR_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print what SHELL needs to complete advisor's commands, options and destinations.

    \b
    bash: eval "$(advisor completion bash)"      in ~/.bashrc
    zsh:  eval "$(advisor completion zsh)"       in ~/.zshrc
    fish: advisor completion fish | source       in ~/.config/fish/config.fish
    """
    from advisor.cli.main import cli

    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"'{shell}' cannot be completed")
    # Not `source()`: it runs bash to ask for its version.
    script = found(cli, {}, "advisor", _VARIABLE)
    click.echo(script.source_template % script.source_vars())
    return 0


def destinations(_: click.Context, __: click.Parameter, incomplete: str) -> list[Any]:
    """Where transfers may go: labs that are up, pairs of the history, names that ssh knows."""
    from advisor.runtime.destinations import known_destinations

    user, at, host = incomplete.rpartition("@")
    known = (one for one in known_destinations(history_to_complete()) if one.name.startswith(host))
    return [CompletionItem(f"{user}{at}{one.name}", help=one.what) for one in known]


def history_to_complete() -> Store:
    """The configured history; the default one where the configuration cannot be used.

    A line that is being typed is no place for a message about it.
    """
    try:
        return configured_store()
    except BadConfiguration:
        return Store.default()


def transfer_tools(_: click.Context, __: click.Parameter, incomplete: str) -> list[Any]:
    """The tools that can be profiled."""
    from advisor import registry
    from advisor.api.tool import TransferTool

    known = (tool for tool in registry.tools() if isinstance(tool, TransferTool))
    return [CompletionItem(t.name, help=t.summary) for t in known if t.name.startswith(incomplete)]
