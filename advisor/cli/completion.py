"""`advisor completion`: what a shell needs to complete commands, options and destinations."""

from typing import Annotated, Literal

import typer

from advisor.cli.commands import command, completion_script
from advisor.cli.errors import UsageError
from advisor.cli.options import configured_store
from advisor.domain.traits import FOUND_TOOL
from advisor.report.output import say
from advisor.store.history import Store


@command()
def completion(
    shell: Annotated[
        Literal["bash", "zsh", "fish"], typer.Argument(metavar="SHELL", help="Your shell.")
    ],
) -> int:
    """Print what SHELL needs to complete advisor's commands, options and destinations.

    \b
    bash: eval "$(advisor completion bash)"      in ~/.bashrc
    zsh:  eval "$(advisor completion zsh)"       in ~/.zshrc
    fish: advisor completion fish | source       in ~/.config/fish/config.fish
    """
    say(completion_script(shell))
    return 0


def destinations(incomplete: str) -> list[tuple[str, str]]:
    """Where transfers may go: labs that are up, pairs of the history, names that ssh knows."""
    from advisor.runtime.destinations import known_destinations

    user, at, host = incomplete.rpartition("@")
    known = known_destinations(history_to_complete())
    return [(f"{user}{at}{one.name}", one.what) for one in known if one.name.startswith(host)]


def history_to_complete() -> Store:
    """The configured history; the default one where the configuration cannot be used.

    Completion must not print messages into the line being typed.
    """
    try:
        return configured_store()
    except UsageError:
        return Store.default()


def transfer_tools(incomplete: str) -> list[tuple[str, str]]:
    """The tools that can be profiled."""
    from advisor import registry
    from advisor.api.tool import TransferTool

    known = (tool for tool in registry.tools() if isinstance(tool, TransferTool))
    return [(tool.name, tool.summary) for tool in known if tool.name.startswith(incomplete)]


def tools_to_profile(incomplete: str) -> list[tuple[str, str]]:
    """The same, and the word for the first one that is installed here."""
    found = transfer_tools(incomplete)
    if FOUND_TOOL.startswith(incomplete):
        found.append((FOUND_TOOL, "the first one that can be used"))
    return found


def profiles(incomplete: str) -> list[tuple[str, str]]:
    """The profiles of the history, and the reference profiles."""
    from advisor.store.errors import StoreError
    from advisor.store.profiles import stored_profiles

    try:
        known = stored_profiles(history_to_complete())
    except StoreError:
        return []
    return [
        (one.record.name, str(one.record.pair))
        for one in known
        if one.record.name.startswith(incomplete)
    ]
