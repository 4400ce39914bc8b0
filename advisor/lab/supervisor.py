"""The process that supervises a lab: `python -m advisor.lab.supervisor`, run by `advisor lab up`.

It reads one order as a line of JSON, builds the lab, reports that in one line, and on
confirmation serves the control socket until it is ended. Nothing it creates has a name in the
kernel: when it ends, for whatever reason, its children see their standard input close and exit, and
the namespaces, devices and mounts end with the last process and descriptor.
"""

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator
from typing import Final

import msgspec

from advisor.hosts.decoding import BadData, decoded
from advisor.lab import messages as m
from advisor.lab.building import built
from advisor.lab.networks import NetworkError
from advisor.lab.paths import BadPath
from advisor.lab.running import Lab, LabOrder
from advisor.lab.state import LabError, LabFolder

PROCEED: Final = b"go on\n"
_COMMANDS: Final[msgspec.json.Decoder[m.LabCommand]] = msgspec.json.Decoder(m.LabCommand)
_LOG: Final = logging.getLogger(__name__)


class Built(msgspec.Struct, frozen=True, tag="built"):
    """The lab is up. `carriers`: the processes that forward its packets."""

    status: m.LabStatus
    carriers: list[int]


class NotBuilt(msgspec.Struct, frozen=True, tag="not built"):
    """The lab could not be built; why, in a sentence."""

    message: str


BuildOutcome = Built | NotBuilt


async def _answer(lab: Lab, line: bytes) -> m.LabReply:
    try:
        return m.CommandDone(await lab.obey(decoded(_COMMANDS, line, m.LINE_BYTES)))
    except (LabError, NetworkError, BadPath) as error:
        return m.CommandFailed(str(error))
    except OSError as error:
        return m.CommandFailed(f"the lab could not do it: {error.strerror or error}")
    except BadData as error:
        return m.CommandFailed(
            f"this lab does not know the command ({error}): is it of another version?"
        )


@contextlib.asynccontextmanager
async def _serving(lab: Lab, place: LabFolder) -> AsyncIterator[None]:
    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # The client may have left before the answer, or sent too long a line.
        with contextlib.suppress(ConnectionError, ValueError):
            while line := await reader.readline():
                writer.write(msgspec.json.encode(await _answer(lab, line)) + b"\n")
                await writer.drain()
        writer.close()

    with place.short_control() as control:
        server = await asyncio.start_unix_server(converse, control, limit=m.LINE_BYTES)
        try:
            yield
        finally:
            server.close()


def _say(outcome: BuildOutcome) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(outcome) + b"\n")
    sys.stdout.buffer.flush()


async def _supervise(order: LabOrder, place: LabFolder) -> None:
    """Run the lab until it is asked to end, or cannot continue."""
    stop_asked = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop_asked.set)
    async with built(order, place) as (lab, broken), _serving(lab, place):
        _say(Built(await lab.status(), lab.carriers))
        if await asyncio.to_thread(sys.stdin.buffer.readline) != PROCEED:
            return  # The calling command has ended meanwhile.
        if order.steps:
            await lab.obey(m.Play(steps=order.steps))
        waits = [asyncio.create_task(stop_asked.wait()), asyncio.create_task(broken())]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        if not stop_asked.is_set():
            _LOG.error("the process that forwards the packets has ended, and so has the lab")
        for task in waits:
            task.cancel()


def main() -> None:
    """Build the lab described on standard input, and supervise it."""
    logging.basicConfig(format="%(asctime)s %(message)s", level=logging.INFO)
    order = msgspec.json.decode(sys.stdin.buffer.readline(), type=LabOrder)
    place = LabFolder(order.name)
    try:
        with place.lock:
            asyncio.run(_supervise(order, place))
    except (LabError, NetworkError) as error:
        _say(NotBuilt(str(error)))
    except OSError as error:
        _say(NotBuilt(f"{error.filename or 'the lab'}: {error.strerror or error}"))
    os._exit(0)  # A thread may still wait for standard input.


if __name__ == "__main__":
    main()
