"""What each flag of a command line does, in the words of the tool that wrote it."""

from advisor import registry
from advisor.api.command_line import explain
from advisor.domain.advice import Command


def explained(command: Command) -> list[tuple[tuple[str, ...], str]]:
    """The command's words in their order, each flag with its values and a sentence.

    The sentence is "" for operands, and for all of it where the tool that wrote the line is no
    longer here, as can be with stored advice.
    """
    tool = next((t for t in registry.tools() if t.name == command.tool), None)
    return explain(command.argv, tool.flags if tool else {})
