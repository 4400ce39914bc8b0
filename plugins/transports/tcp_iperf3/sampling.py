"""Reports what the kernel counts while libiperf has the connections."""

import threading
from typing import Final

from advisor.api.network import TcpSockets, repeat_every
from advisor.api.transport import Channel

from .libiperf import Library

COOKIE_BYTES: Final = 38
"""iperf3's cookie at the head of each stream, and the SYN, which the kernel counts as a byte."""


class Sampler(threading.Thread):
    """Reports the kernel's figures of the data connections while libiperf blocks its thread.

    It begins when data flows on all streams: libiperf connects them one after the other, a round
    trip each, and until the last is connected only their cookies have been sent.
    """

    def __init__(
        self, library: Library, channel: Channel, every_s: float, streams: int, receiving: bool
    ) -> None:
        super().__init__(daemon=True)
        self._before_data_bytes = streams * COOKIE_BYTES
        self.library = library
        self._channel = channel
        self._every_s = every_s
        self._receiving = receiving
        self._sockets = TcpSockets()
        self.has_begun = False
        """Whether data was reported."""

    def run(self) -> None:
        """Report until the process ends."""
        repeat_every(self._every_s, self._report)

    def _report(self) -> None:
        control = self.library.control_descriptor()
        if control < 0:
            # It may open at any moment, and would be taken for a stream.
            return
        self._sockets.exclude(control)
        totals = self._sockets.totals()
        moved_bytes = totals.received_bytes if self._receiving else totals.acked_bytes
        if moved_bytes <= self._before_data_bytes:
            return
        self.has_begun = True
        side, size = (
            ("receive_buffer_bytes", totals.receive_buffer_bytes)
            if self._receiving
            else ("send_buffer_bytes", totals.send_buffer_bytes)
        )
        self._channel.sample(
            moved_bytes,
            retransmits=None if self._receiving else totals.retransmits,
            rtt_s=totals.rtt_s,
            arrived_bytes=totals.arrived_bytes or None,
            granted={side: size} if size is not None else {},
            sending=None if self._receiving else totals.sending,
        )
