"""Runs a session for a command: its listeners, its signals, its exit code."""

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import msgspec

from advisor import registry
from advisor.advising.session import Interrupted, advise
from advisor.cli.terminal import stdout_columns
from advisor.domain import events as ev
from advisor.domain.orders import AnyOrder, Stop
from advisor.hosts.decoding import LINE_LIMIT_BYTES, BadData, decoded
from advisor.report import ndjson
from advisor.report.narration import Narration
from advisor.report.output import say
from advisor.report.text import advice_text
from advisor.runtime.control import Control
from advisor.runtime.events import Publish
from advisor.runtime.exit_codes import EXIT_DONE, EXIT_INTERRUPTED
from advisor.runtime.request import AdviceRequest, ConnectionOptions
from advisor.store.history import Store
from advisor.traits import tool_to_profile

_Request = TypeVar("_Request", bound=ConnectionOptions)


def run_session(
    request: AdviceRequest,
    store: Store,
    *,
    as_json: bool,
    ask: bool,
    orders: bool = False,
    interrupted: Interrupted | None = None,
) -> int:
    """Run the session and print its advice; returns the exit code.

    `orders`: whether to read orders from standard input.
    """
    request = on_lab(request)
    with Narration(sys.stderr, bar=False if as_json else None) as narration:
        data = ndjson.writer(sys.stdout) if as_json else _advice_as_text

        is_over = False

        def publish(event: ev.AnyEvent) -> None:
            nonlocal is_over
            if is_over:
                # A signal was heard before the program's end; the advice is the last event.
                return
            narration(event)
            if isinstance(event, ev.AdviceGiven | ev.GaveUp):
                is_over = True
                narration.finish()
            data(event)

        accept = narration.ask if ask and sys.stdin.isatty() else _never
        control = Control()

        async def session() -> int:
            return await advise(
                request,
                store=store,
                publish=publish,
                control=control,
                accept_history=accept,
                interrupted=interrupted,
            )

        status = asyncio.run(with_signals(session, control, publish, orders=orders))
    if status == EXIT_DONE and not as_json and not request.tool:
        say("Measure longer, if this is not certain enough: advisor resume --more 30s", err=True)
    if status == EXIT_DONE and not as_json and (hint := files_hint(request)):
        say(hint, err=True)
    wanted = request.destination.lab_host
    if wanted and status == EXIT_DONE and not as_json:
        say(f"Run the lines inside the lab: advisor lab exec {wanted.lab} -- …", err=True)
    return status


def files_hint(request: AdviceRequest) -> str:
    """How to measure with files that were named where only the network was measured; else "".

    It is not done unasked: it writes at the destination.
    """
    dataset = request.dataset
    if request.tool or dataset is None or not dataset.path or not request.destination_path:
        return ""
    try:
        tool = tool_to_profile(several=bool(dataset.largest))
    except registry.PluginMissing:
        return ""
    return f"Measure your files and both disks too: the same command with --profile-tool {tool}"


def on_lab(request: _Request) -> _Request:
    """For a destination in a lab: move this process to its source, unless it runs on a host of a
    mesh, and fill in the lab's GridFTP server, for a tool that can use it.

    If that fails, the session reports why.
    """
    wanted = request.destination.lab_host
    if wanted is None:
        return request
    from advisor.lab.enter import become, is_on, measures_from
    from advisor.lab.state import LabError, state_of

    try:
        state = state_of(wanted.lab)
        far = state.far(wanted.host)
    except LabError:
        return request
    if not is_on(measures_from(state)):
        become(state, state.source, [sys.executable, "-P", "-m", "advisor", *sys.argv[1:]])
    if request.server_url or not far.gridftp_url or not _takes(request, far.gridftp_url):
        return request
    return msgspec.structs.replace(request, server_url=far.gridftp_url)


def _takes(request: ConnectionOptions, url: str) -> bool:
    """Whether the tool that the request names can use that server; so if it names none."""
    from advisor.traits import takes_server

    tool = getattr(request, "tool", None)
    return not tool or takes_server(tool, url)


def _advice_as_text(event: ev.AnyEvent) -> None:
    if isinstance(event, ev.AdviceGiven):
        say(advice_text(event, stdout_columns()))


async def _never(_: list[ev.PastResult]) -> bool:
    return False


async def with_signals(
    session: Callable[[], Coroutine[Any, Any, int]],
    control: Control,
    publish: Publish,
    *,
    orders: bool = False,
    stopping: str = "stopping with the best so far",
) -> int:
    """The first signal stops the session, with a notice; the second leaves at once.

    Leaving cancels the session, which ends its child processes on the way out.
    """
    running = asyncio.create_task(session())

    def heard() -> None:
        if control.stop.is_set():
            running.cancel()
            return
        publish(ev.Notice(at_s=0, message=f"{stopping}; once more leaves at once"))
        control.stop.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, heard)
    reading = asyncio.create_task(_read_orders(control, publish)) if orders else None
    try:
        return await running
    except asyncio.CancelledError:
        return EXIT_INTERRUPTED
    finally:
        if reading:
            reading.cancel()


async def _read_orders(control: Control, publish: Publish) -> None:
    """Execute orders from standard input; its end is the order to stop."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    decoder: msgspec.json.Decoder[AnyOrder] = msgspec.json.Decoder(AnyOrder)
    while line := await reader.readline():
        try:
            control.obey(decoded(decoder, line, LINE_LIMIT_BYTES))
        except BadData as error:
            publish(ev.Notice(at_s=0, message=f"not an order: {error}"))
    control.obey(Stop())
