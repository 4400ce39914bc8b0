"""Examines a path without a session: what is known before anything is measured."""

import asyncio
import time
from collections.abc import Mapping
from typing import Final

from advisor.advising.stored_settings import parameters_of, what_is_lacking
from advisor.agent.peer_errors import PeerError
from advisor.agent.secret import BadSecret
from advisor.domain import events as ev
from advisor.domain.problem import ProblemError
from advisor.hosts.source_address import NoSourceAddress
from advisor.models.limits import binding_limits
from advisor.runtime.connect import FarEnd, look_at_path, pair_of
from advisor.runtime.connections import usable_connections
from advisor.runtime.events import EventEmitter, Publish
from advisor.runtime.exit_codes import EXIT_DONE, EXIT_FAILED, EXIT_PEER, EXIT_USAGE
from advisor.runtime.request import ConnectionOptions
from advisor.runtime.round_trip import rtt_again_s
from advisor.store.errors import StoreError
from advisor.store.history import Store

_LOOK_EVERY_S: Final = 1.0

_EXIT_CODES: Final[Mapping[type[ProblemError], int]] = {
    PeerError: EXIT_PEER,
    BadSecret: EXIT_USAGE,
    NoSourceAddress: EXIT_USAGE,
    StoreError: EXIT_FAILED,
}


async def check_path(
    request: ConnectionOptions, store: Store, publish: Publish, *, watch: bool
) -> int:
    """Report the path, the pair's stored results and the connections of the two hosts.

    With `watch`, then the RTT once a second, until it is cancelled. Returns the exit code that a
    session would have had so far.
    """
    events = EventEmitter(publish, asyncio.get_running_loop().time)
    far_end = FarEnd(request, events.notice)
    try:
        await far_end.connect()
        path = await look_at_path(far_end.reached, request)
        events.emit(ev.PathFound, path=path, limits=binding_limits(path))
        past = store.past(pair_of(request), time.time(), path, what_is_lacking(parameters_of(path)))
        events.emit(ev.HistoryFound, results=past.results, notes=past.notes)
        if not request.is_local:
            connections = await usable_connections(far_end.reached)
            events.emit(ev.ConnectionsFound, connections=connections.found, notes=connections.notes)
        while watch:
            await asyncio.sleep(_LOOK_EVERY_S)
            rtt_s = await rtt_again_s(far_end.reached, path)
            if rtt_s is not None:
                events.emit(ev.RttSeen, rtt_s=rtt_s)
    except tuple(_EXIT_CODES) as error:
        code = _EXIT_CODES[next(kind for kind in _EXIT_CODES if isinstance(error, kind))]
        events.emit(ev.GaveUp, message=str(error), exit_code=code, problem=error.problem)
        return code
    finally:
        await far_end.close()
    return EXIT_DONE
