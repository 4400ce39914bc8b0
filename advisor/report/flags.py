"""The meaning of each flag of a command line, as described by the tool that wrote it."""

from advisor import registry
from advisor.api.command_line import explain
from advisor.domain.advice import Command


def explained(command: Command) -> list[tuple[tuple[str, ...], str]]:
    """The command's words in order, each flag with its values and a sentence.

    The sentence is "" for operands, and for every word if the tool that wrote the line is no
    longer installed, which may happen with stored advice.
    """
    tool = next((t for t in registry.tools() if t.name == command.tool), None)
    return explain(command.argv, tool.flags if tool else {})
