"""Runs a session for a command: its listeners, its signals, its exit code."""

import asyncio
import signal
import sys
from collections.abc import Callable

import click
import msgspec

from advisor.cli.terminal import stdout_columns
from advisor.domain import events as ev
from advisor.report import ndjson
from advisor.report.narration import Narration
from advisor.report.text import advice_text
from advisor.session.request import AdviceRequest
from advisor.session.run import EXIT_ADVICE, EXIT_INTERRUPTED, AcceptHistory, Interrupted, advise
from advisor.store.history import Store


def run_session(
    request: AdviceRequest,
    store: Store,
    *,
    as_json: bool,
    ask: bool,
    interrupted: Interrupted | None = None,
) -> int:
    """The session's exit code, after its advice is printed."""
    request = _on_lab(request)
    with Narration(sys.stderr, bar=False if as_json else None) as narration:
        data = ndjson.writer(sys.stdout) if as_json else _advice_as_text

        def publish(event: ev.AnyEvent) -> None:
            narration(event)
            if isinstance(event, ev.AdviceGiven | ev.GaveUp):
                narration.finish()
            data(event)

        accept = narration.ask if ask and sys.stdin.isatty() else _never
        status = asyncio.run(_with_signals(request, store, publish, accept, interrupted))
    wanted = request.destination.lab_host
    if wanted and status == EXIT_ADVICE and not as_json:
        click.echo(f"Run the lines inside the lab: advisor lab exec {wanted.lab} -- …", err=True)
    return status


def _on_lab(request: AdviceRequest) -> AdviceRequest:
    """For a destination in a lab: this process goes there, and the lab's GridFTP server is known.

    Where that cannot be, the session says why.
    """
    wanted = request.destination.lab_host
    if wanted is None:
        return request
    from advisor.lab.entering import become, is_on
    from advisor.lab.state import LabError, state_of

    try:
        state = state_of(wanted.lab)
        far = state.far(wanted.host)
    except LabError:
        return request
    if not is_on(state.source):
        become(state, state.source, [sys.executable, "-P", "-m", "advisor", *sys.argv[1:]])
    return msgspec.structs.replace(request, server_url=request.server_url or far.gridftp_url)


def _advice_as_text(event: ev.AnyEvent) -> None:
    if isinstance(event, ev.AdviceGiven):
        click.echo(advice_text(event, stdout_columns()))


async def _never(_: list[ev.PastResult]) -> bool:
    return False


async def _with_signals(
    request: AdviceRequest,
    store: Store,
    publish: Callable[[ev.AnyEvent], None],
    accept: AcceptHistory,
    interrupted: Interrupted | None,
) -> int:
    """The first signal stops with the best so far, the second leaves at once.

    Leaving is by cancelling: what is running ends its children on the way out.
    """
    stop = asyncio.Event()
    session = asyncio.create_task(
        advise(
            request,
            store=store,
            publish=publish,
            stop=stop,
            accept_history=accept,
            interrupted=interrupted,
        )
    )

    def heard() -> None:
        if stop.is_set():
            session.cancel()
            return
        publish(
            ev.Notice(at_s=0, message="stopping with the best so far; once more leaves at once")
        )
        stop.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, heard)
    try:
        return await session
    except asyncio.CancelledError:
        return EXIT_INTERRUPTED
