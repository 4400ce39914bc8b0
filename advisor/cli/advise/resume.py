"""`advisor resume`: continues the last interrupted session."""

import msgspec

from advisor.advising.session import Interrupted
from advisor.cli.advise.sessions import run_session
from advisor.cli.commands import command
from advisor.cli.errors import UsageError
from advisor.cli.options import EventsAsJson, OrdersOption, StoreOption
from advisor.runtime.request import AdviceRequest


@command()
def resume(
    *, store: StoreOption, as_json: EventsAsJson = False, orders: OrdersOption = False
) -> int:
    """Continue the last session that was interrupted, of whatever pair.

    Its probes count: the search continues from where it was, within the time that was left.
    """
    found = store.latest_unfinished_session(None)
    if found is None:
        raise UsageError(
            "there is no interrupted session",
            remedy="begin one with 'advisor advise'",
            command="advisor advise",
        )
    record, probes = found
    try:
        request = msgspec.convert(record.request, AdviceRequest)
    except msgspec.ValidationError:
        raise UsageError(
            f"session {record.session} was started by another version",
            remedy="start a new one with 'advisor advise'",
            command="advisor advise",
        ) from None
    interrupted = Interrupted(record, probes)
    return run_session(
        request,
        store,
        as_json=as_json,
        ask=False,
        orders=orders,
        interrupted=interrupted,
    )
