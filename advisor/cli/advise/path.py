"""`advisor path`: checks the path to a destination."""

import asyncio
import signal
import sys
from typing import Annotated

import typer

from advisor.advising.path_check import check_path
from advisor.cli.commands import command
from advisor.cli.connection import DataReachOptions, DestinationArgument
from advisor.cli.lab_source import on_lab
from advisor.cli.options import EventsAsJson, StoreOption
from advisor.domain import events as ev
from advisor.report import ndjson
from advisor.report.lines import line_of
from advisor.report.output import say
from advisor.runtime.exit_codes import EXIT_DONE, EXIT_INTERRUPTED
from advisor.runtime.request import AdviceRequest
from advisor.store.history import Store


@command()
def path(
    reach: DataReachOptions,
    *,
    store: StoreOption,
    destination: DestinationArgument = None,
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Keep reporting the round-trip time, until Ctrl-C."),
    ] = False,
    as_json: EventsAsJson = False,
) -> int:
    """Check the path to DESTINATION, and both hosts, without sending any load.

    It reports whether the agent there answers, the round-trip time, the MTU, what will limit a
    transfer, and what is stored of this pair.
    """
    request = AdviceRequest(**reach.request_fields(destination))
    return _look(on_lab(request), store, as_json, watch)


def _look(request: AdviceRequest, store: Store, as_json: bool, watch: bool) -> int:
    show = ndjson.writer(sys.stdout) if as_json else _as_text

    async def looking() -> int:
        task = asyncio.create_task(check_path(request, store, show, watch=watch))
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, task.cancel)
        try:
            return await task
        except asyncio.CancelledError:
            # Ctrl-C is how watching ends.
            return EXIT_DONE if watch else EXIT_INTERRUPTED

    return asyncio.run(looking())


def _as_text(event: ev.AnyEvent) -> None:
    if line := line_of(event):
        say(line, err=isinstance(event, ev.GaveUp))
