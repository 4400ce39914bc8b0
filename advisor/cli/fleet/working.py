"""`advisor fleet work`: a worker."""

import asyncio
import signal
from typing import Annotated

import typer

from advisor.cli import parameters as p
from advisor.cli.commands import command
from advisor.cli.fleet.database import address_of
from advisor.cli.history.lookup import store_errors
from advisor.cli.options import StoreOption
from advisor.report.output import say
from advisor.runtime.exit_codes import EXIT_DONE


@command()
def work(
    store: StoreOption,
    *,
    at_once: Annotated[
        int,
        p.whole(
            "--at-once", low=1, high=256, help="How many measurements this worker runs at a time."
        ),
    ] = 4,
    trust: Annotated[
        list[str] | None,
        typer.Option(
            "--trust",
            metavar="ACCOUNT",
            help="An operator whose configuration may name programs and files. Can be repeated.",
        ),
    ] = None,
) -> int:
    """Measure the pairs of the fleet that are due, until Ctrl-C or SIGTERM.

    As many workers as wanted, on any host that reaches the database, and the sources by ssh. Each
    pair is measured by its source, which needs no access to the database. Whatever is being
    measured ends at once with the worker, and is due again.
    """
    address = address_of(store)
    from advisor.fleet.work.queue import Queue
    from advisor.fleet.work.worker import Worker

    async def working() -> None:
        worker = Worker(address, store.another, _tell, frozenset(trust or ()))
        await asyncio.to_thread(worker.register)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, worker.stopping.set)
        staying = asyncio.create_task(worker.stay_known())
        try:
            await Queue(address, worker.turn, at_once, worker.stopping).work()
        finally:
            worker.stopping.set()
            await staying

    with store_errors():
        asyncio.run(working())
    return EXIT_DONE


def _tell(line: str) -> None:
    say(f"advisor: {line}", err=True)
