"""The process that keeps a lab: `python -m advisor.lab.supervisor`, started by `advisor lab up`.

It reads one order as a line of JSON, builds the lab, says so in one line, and when it is told to
go on, serves the control socket until it is ended. What it made has no name in the kernel: when it
ends, in whatever way, its children see their standard input end and leave, and with the last
process and descriptor the namespaces, devices and mounts are gone.
"""

import asyncio
import contextlib
import logging
import os
import signal
import sys
from typing import Final

import msgspec

from advisor.lab import messages as m
from advisor.lab.building import built
from advisor.lab.networks import NetworkError
from advisor.lab.paths import BadPath
from advisor.lab.running import Lab, LabOrder
from advisor.lab.state import LabError, Place

GO_ON: Final = b"go on\n"
_LOG: Final = logging.getLogger(__name__)


class Built(msgspec.Struct, frozen=True, tag="built"):
    """It is up. `carriers`: the processes that carry its packets."""

    status: m.LabStatus
    carriers: list[int]


class NotBuilt(msgspec.Struct, frozen=True, tag="not built"):
    """It is not; why, in a sentence."""

    message: str


Outcome = Built | NotBuilt


async def _answer(lab: Lab, line: bytes) -> m.Reply:
    try:
        return m.Done(await lab.obey(msgspec.json.decode(line, type=m.Order)))
    except (LabError, NetworkError, BadPath) as error:
        return m.Refused(str(error))
    except OSError as error:
        return m.Refused(f"the lab could not do it: {error.strerror or error}")
    except msgspec.MsgspecError as error:
        return m.Refused(f"not an order this lab knows ({error}): is it of another version?")


async def _serve(lab: Lab, place: Place) -> asyncio.Server:
    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Whoever asked may be gone before the answer, or say more than a line may hold.
        with contextlib.suppress(ConnectionError, ValueError):
            while line := await reader.readline():
                writer.write(msgspec.json.encode(await _answer(lab, line)) + b"\n")
                await writer.drain()
        writer.close()

    return await asyncio.start_unix_server(converse, place.control, limit=m.LINE_BYTES)


def _say(outcome: Outcome) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(outcome) + b"\n")
    sys.stdout.buffer.flush()


async def _keep(order: LabOrder, place: Place) -> None:
    """Until it is told to end, or cannot go on."""
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, told.set)
    async with built(order, place) as (lab, broken):
        server = await _serve(lab, place)
        _say(Built(await lab.status(), lab.carriers))
        if await asyncio.to_thread(sys.stdin.buffer.readline) != GO_ON:
            return  # Whoever wanted it has left meanwhile.
        if order.steps:
            await lab.obey(m.Play(steps=order.steps))
        waits = [asyncio.create_task(told.wait()), asyncio.create_task(broken())]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        if not told.is_set():
            _LOG.error("what carries the packets has ended: so has the lab")
        server.close()
        for task in waits:
            task.cancel()


def main() -> None:
    """Build the lab that standard input orders, and keep it."""
    logging.basicConfig(format="%(asctime)s %(message)s", level=logging.INFO)
    order = msgspec.json.decode(sys.stdin.buffer.readline(), type=LabOrder)
    place = Place(order.name)
    try:
        with place.lock:
            asyncio.run(_keep(order, place))
    except (LabError, NetworkError) as error:
        _say(NotBuilt(str(error)))
    except OSError as error:
        _say(NotBuilt(f"{error.filename or 'the lab'}: {error.strerror or error}"))
    os._exit(0)  # A thread may still wait for standard input.


if __name__ == "__main__":
    main()
