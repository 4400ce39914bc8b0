"""`advisor profile`, its subcommands, and the short form that measures."""

from typing import Any

from advisor.cli.commands import DocumentedGroup, group
from advisor.cli.profile.exchange import delete, export, import_profiles
from advisor.cli.profile.measuring import measure, resume
from advisor.cli.profile.rtt import rtt
from advisor.cli.profile.showing import compare, list_, show


class _WithDestination(DocumentedGroup):
    """Takes anything that is not the name of a command for a destination to measure."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command and its arguments."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = ["measure", *args]
        return super().resolve_command(ctx, args)


@group(_WithDestination)
def profile() -> None:
    """Measure a declared grid of settings to its end, and keep it as a profile.

    \b
    advisor profile dtn02 --set streams=1,4,16 --set tcp.buffer=auto,4MiB
    advisor profile show dtn02-20260301T120000Z-4f2a1c
    advisor profile compare before after

    'advisor profile HOST' is short for 'advisor profile measure HOST'.
    """


for _command in (measure, resume, list_, show, compare, rtt, export, import_profiles, delete):
    profile.add_command(_command)
