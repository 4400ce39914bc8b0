"""`advisor fleet demo`: a mesh at work on this machine."""

import asyncio
import signal
import time
from typing import Annotated, Final

import typer

from advisor.cli import parameters as p
from advisor.cli.commands import command
from advisor.cli.errors import CommandFailed, UsageError
from advisor.domain.problem import ProblemError
from advisor.domain.shell import shell_line
from advisor.report.output import say
from advisor.runtime.exit_codes import EXIT_DONE
from advisor.store.opening import require_client

_LOOK_S: Final = 1.0


@command()
def demo(
    *,
    hosts: Annotated[
        int, p.whole("--hosts", low=2, high=16, help="How many hosts the mesh has.")
    ] = 8,
    workers: Annotated[
        int, p.whole("--workers", low=1, high=8, help="How many workers measure.")
    ] = 2,
    duration_s: Annotated[
        float | None,
        typer.Option(
            "--duration", **p.DURATION, show_default="until Ctrl-C", help="How long it lasts."
        ),
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="Lines, also on a terminal.")] = False,
) -> int:
    """Show a fleet at work on this machine: hosts of a lab, a database and workers of its own.

    Each host measures with all others, over emulated paths of different rates and distances. Needs
    PostgreSQL's server, and what 'advisor lab' needs. Everything is
    removed in the end.
    """
    if duration_s is not None and duration_s <= 0:
        raise UsageError("--duration: it ends before it begins", remedy="give a time as in 5min")
    try:
        require_client()
        return asyncio.run(_shown(hosts, workers, duration_s, plain=plain))
    except ProblemError as error:
        if isinstance(error, CommandFailed):
            raise
        raise CommandFailed.about("", error) from None


async def _shown(hosts: int, workers: int, duration_s: float | None, *, plain: bool) -> int:
    from advisor.fleet.demo.running import demo_at_work
    from advisor.report.fleet_demo import shown_on

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    say(f"Starting {hosts} hosts, a database and {workers} workers …", err=True)
    with shown_on(plain=plain) as screen:
        async with demo_at_work(hosts, workers, screen.tell) as one:
            _explain(one.address.uri, hosts)
            until_s = float("inf") if duration_s is None else time.monotonic() + duration_s
            while not stop.is_set() and time.monotonic() < until_s:
                screen.show(await one.view())
                if not one.works:
                    raise CommandFailed("all workers have ended", remedy="see what they said last")
                await _wait(stop, min(_LOOK_S, until_s - time.monotonic()))
            screen.close(await one.view())
            say("Stopping, and removing everything …", err=True)
    return EXIT_DONE


async def _wait(stop: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(max(0.0, seconds)):
            await stop.wait()
    except TimeoutError:
        pass


def _explain(address: str, hosts: int) -> None:
    say(
        f"{hosts * (hosts - 1)} pairs are measured, until Ctrl-C. From another terminal:\n",
        err=True,
    )
    for words in (
        ["matrix"],
        ["status"],
        ["show", "h1", "h2"],
        ["metrics", "--once"],
    ):
        say("  " + shell_line(["advisor", "fleet", *words, "--store", address]), err=True)
    say("  advisor lab status fleet-demo\n", err=True)
