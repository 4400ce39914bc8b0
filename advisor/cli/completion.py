"""`advisor completion`: what a shell needs to complete commands, options and destinations."""

import contextlib
import re
from typing import Any, Final

import click
from click.shell_completion import CompletionItem, get_completion_class

from advisor.domain.endpoints import LOCALHOST

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
    user, at, host = incomplete.rpartition("@")
    known = {name: what for name, what in _known() if name.startswith(host)}
    return [CompletionItem(f"{user}{at}{name}", help=what) for name, what in known.items()]


def _known() -> list[tuple[str, str]]:
    from advisor.hosts.ssh_config import host_aliases
    from advisor.lab.state import labs
    from advisor.store.errors import StoreError
    from advisor.store.history import Store

    found = [(LOCALHOST, "this machine")]
    found += [(f"lab:{place.name}", "a lab that is up") for place in labs() if place.is_kept]
    with contextlib.suppress(StoreError):
        found += [(s.pair.destination, "measured before") for s in Store.default().pairs()]
    found += [(alias, "of your ssh configuration") for alias in host_aliases()]
    # A shell would take what is left of such a name for the end of it.
    return [(name, what) for name, what in found if not re.search(r"\s", name)]
