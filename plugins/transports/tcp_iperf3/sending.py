"""The sending end: a libiperf client that tries again when strangers held up the server."""

import math
import time
from typing import Final

import iperf3

from advisor.api.network import LIBIPERF
from advisor.api.transport import Channel, SendOrder
from advisor.api.values import FailureKind

from .libiperf import Library, kind_of
from .sampling import Sampler

_PAUSE_S: Final = 0.05
# The receiver was ready before the sender started. A port that refuses from the beginning is closed
# by a firewall, which keeps refusing.
_REFUSED_S: Final = 1.0
_TRIED_S: Final = 10.0
_HELD_UP: Final = {FailureKind.RESET, FailureKind.PEER_GONE, FailureKind.BUSY}


def send(order: SendOrder, channel: Channel) -> None:
    """An iperf3 client that sends until it is stopped."""
    began_s = time.monotonic()
    streams = int(order.setting.get("streams", 1))
    kept: list[iperf3.Client] = []  # The sampler may still look at the last but one.
    sampler: Sampler | None = None
    was_reached = False
    while True:
        client = _client(order, streams)
        kept.append(client)
        library = _prepared(client, order)
        if sampler is None:
            channel.versions({"libiperf": library.version})
            sampler = Sampler(library, channel, order.sample_every_s, streams, receiving=False)
            sampler.start()
        sampler.library = library
        trouble = library.run("client")
        if not trouble:
            return
        kind = kind_of(trouble)
        was_reached = was_reached or kind in _HELD_UP
        # A receiver that was reached refuses for as long as it starts again.
        longest_s = _TRIED_S if was_reached else _REFUSED_S
        may_retry = kind in _HELD_UP or kind is FailureKind.REFUSED
        if sampler.has_begun or not may_retry or time.monotonic() - began_s > longest_s:
            if kind in (FailureKind.REFUSED, FailureKind.TIMED_OUT):
                trouble += ": does a firewall block the agent's TCP ports?"
            channel.trouble(kind, trouble)
            return
        time.sleep(_PAUSE_S)


def _client(order: SendOrder, streams: int) -> iperf3.Client:
    client = iperf3.Client(lib_name=LIBIPERF)
    client.json_output = False
    client.server_hostname = order.address
    client.port = order.port
    client.duration = math.ceil(order.ceiling_s) + 5
    client.num_streams = streams
    return client


def _prepared(client: iperf3.Client, order: SendOrder) -> Library:
    library = Library(client)
    library.set_text("extra_data", order.token)
    library.set_int("connect_timeout", round(order.connect_timeout_s * 1000))
    library.set_interval(0.5)
    if order.own_address:
        library.set_text("bind_address", order.own_address)
    if buffer_bytes := int(order.setting.get("buffer_bytes", 0)):
        library.set_int("socket_bufsize", buffer_bytes)
    if congestion := order.setting.get("congestion"):
        library.set_text("congestion_control", str(congestion))
    return library
