"""`advisor demo`: a recorded session, for people without a second host."""

from typing import Annotated

import typer

from advisor.cli import interface
from advisor.cli import parameters as p
from advisor.cli.commands import command
from advisor.cli.errors import CommandFailed
from advisor.report.output import say
from advisor.store.event_log import kept_events
from advisor.store.layout import shipped_recording


@command()
def demo(
    *,
    plain: Annotated[bool, typer.Option("--plain", help="As text, also on a terminal.")] = False,
    speed: Annotated[
        float,
        p.number(
            "--speed", low=0.1, high=1000, help="As text: speed relative to that of the session."
        ),
    ] = 10.0,
) -> int:
    """Show a session that was recorded on an emulated path of 46 ms: nothing is measured.

    'advisor advise localhost' measures on this machine, 'advisor lab' makes such a path here.
    """
    folder = shipped_recording()
    if folder is None:
        raise CommandFailed("the recording is missing", remedy="install advisor again")
    events = list(kept_events(folder))
    if not plain and interface.is_possible():
        return interface.open_recording(events)
    from advisor.cli.history.replay import replay_session

    say("A recording: nothing is measured now.", err=True)
    replay_session(events, speed)
    say("This was a recording, of an emulated path of 46 ms.", err=True)
    return 0
