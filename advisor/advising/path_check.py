"""A look at a path, without a session: what there is before anything is measured."""

import asyncio
import time
from typing import Final

from advisor.advising.session import EXIT_ADVICE, EXIT_PEER, EXIT_USAGE, Publish
from advisor.agent.client import PeerError
from advisor.agent.connect import Reached
from advisor.agent.secret import BadSecret
from advisor.domain import events as ev
from advisor.models.limits import binding_limits
from advisor.runtime.connect import look_at_path, pair_of, reach
from advisor.runtime.request import AdviceRequest
from advisor.runtime.round_trip import rtt_again_s
from advisor.store.history import Store

_LOOK_EVERY_S: Final = 1.0


async def look(request: AdviceRequest, store: Store, publish: Publish, *, watch: bool) -> int:
    """Tell the path and what is stored of the pair; with `watch`, the RTT from then on.

    The exit code: that of a session that would have got as far. Watching ends when it is cancelled.
    """
    clock = asyncio.get_running_loop().time
    began_s = clock()
    reached: Reached | None = None
    try:
        reached = await reach(request)
        path = await look_at_path(reached, request)
        publish(ev.PathFound(at_s=clock() - began_s, path=path, limits=binding_limits(path)))
        past = store.best(pair_of(request), time.time(), path.rtt_s)
        publish(ev.HistoryFound(at_s=clock() - began_s, results=past))
        while watch:
            await asyncio.sleep(_LOOK_EVERY_S)
            rtt_s = await rtt_again_s(reached, path)
            if rtt_s is not None:
                publish(ev.RttSeen(at_s=clock() - began_s, rtt_s=rtt_s))
    except PeerError as error:
        publish(ev.GaveUp(at_s=clock() - began_s, message=str(error), exit_code=EXIT_PEER))
        return EXIT_PEER
    except BadSecret as error:
        message = f"--secret-file {request.secret_file} {error}"
        publish(ev.GaveUp(at_s=clock() - began_s, message=message, exit_code=EXIT_USAGE))
        return EXIT_USAGE
    finally:
        if reached:
            await asyncio.shield(reached.link.close())
    return EXIT_ADVICE
