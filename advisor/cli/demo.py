"""`advisor demo`: a recorded session, for people without a second host."""

import click

from advisor.cli import interface
from advisor.store.event_log import kept_events
from advisor.store.layout import shipped_recording


@click.command()
@click.option("--plain", is_flag=True, help="As text, also on a terminal.")
@click.option(
    "--speed",
    type=click.FloatRange(min=0.1),
    default=10.0,
    show_default=True,
    help="How many times as fast as it was (as text).",
)
def demo(plain: bool, speed: float) -> int:
    """Show a session that was recorded on an emulated path of 46 ms: nothing is measured.

    'advisor advise localhost' measures on this machine, 'advisor lab' makes such a path here.
    """
    folder = shipped_recording()
    if folder is None:
        raise click.ClickException("the recording is missing: install advisor again")
    events = list(kept_events(folder))
    if not plain and interface.is_possible():
        return interface.open_recording(events)
    from advisor.cli.history.replay import replay_session

    click.echo("A recording: nothing is measured now.", err=True)
    replay_session(events, speed)
    click.echo("This was a recording, of an emulated path of 46 ms.", err=True)
    return 0
