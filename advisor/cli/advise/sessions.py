"""Runs a session for a command: its listeners, its signals, its exit code."""

import asyncio
import sys

from advisor import registry
from advisor.advising.session import Interrupted, advise
from advisor.cli.lab_source import on_lab
from advisor.cli.signals import with_signals
from advisor.cli.terminal import stdout_columns
from advisor.domain import events as ev
from advisor.report import ndjson
from advisor.report.narration import Narration
from advisor.report.output import say
from advisor.report.text import advice_text
from advisor.runtime.control import Control
from advisor.runtime.exit_codes import EXIT_DONE
from advisor.runtime.request import AdviceRequest
from advisor.store.history import Store
from advisor.traits import tool_to_profile


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


def _advice_as_text(event: ev.AnyEvent) -> None:
    if isinstance(event, ev.AdviceGiven):
        say(advice_text(event, stdout_columns()))


async def _never(_: list[ev.PastResult]) -> bool:
    return False
