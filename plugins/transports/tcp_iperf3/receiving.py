"""The receiving end: a libiperf server that serves one peer, whoever else comes to its port.

libiperf serves the first that connects, and reads from it without a time limit. Who comes from
another address, shows another token or falls silent is therefore disconnected, which ends the
server's run, and the server starts again on the same port; the rightful sender tries again
(sending.py). Once data flows nothing listens any more.
"""

import os
import socket
import threading
import time
from typing import Final

import iperf3

from advisor.api.network import LIBIPERF, Accepted, PortWatch, free_run, usable_address
from advisor.api.transport import Channel, ReceiveOrder
from advisor.api.values import FailureKind

from .libiperf import Library, kind_of
from .sampling import Sampler

_PORT_TRIES: Final = 20
_PORT_PAUSE_S: Final = 0.05
_LISTEN_S: Final = 5.0
_LOOK_EVERY_S: Final = 0.003
_SILENCE_S: Final = 3.0
"""The peer sends its cookie at once, and its token a round trip later."""

_KERNEL_WAITS_S: Final = 15
_COOKIE_BYTES: Final = 37


def receive(order: ReceiveOrder, channel: Channel) -> None:
    """An iperf3 server for one test."""
    address = usable_address(order.own_address, order.source_address)
    for attempt in range(_PORT_TRIES):
        port = _free_port(address, order.ports, attempt)
        if port is None:
            break
        trouble = _Receiver(address, port, order, channel).serve()
        if "in use" not in trouble:
            if trouble:
                channel.trouble(kind_of(trouble), trouble)
            return
    first, last = order.ports
    which = f"port from {first} to {last}" if first else "port"
    channel.trouble(FailureKind.REFUSED, f"no {which} is free on this host")


def _free_port(address: str, ports: tuple[int, int], attempt: int) -> int | None:
    """A free port of the range; None when there is none (any more).

    Without a range it is no ephemeral one: libiperf closes its port for a moment once the peer has
    given its setting, and a connection from this host could then begin at an ephemeral port.
    """
    first, last = ports
    # `has_ipv6` says how Python was built, and the kernel may be without it.
    is_ipv6 = ":" in address if address else socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if is_ipv6 else socket.AF_INET
    try:
        # Without a range, it looks from another port on at each attempt.
        return free_run(1, (first + attempt, last) if first else ports, family, address)
    except OSError:
        return None


class _Receiver:
    """The server of one probe on one port."""

    def __init__(self, address: str, port: int, order: ReceiveOrder, channel: Channel) -> None:
        self._address = address
        self._port = port
        self._order = order
        self._channel = channel
        self._is_ready = False

    def serve(self) -> str:
        """Serve the peer; "" or why it cannot be served.

        Strangers may keep coming for as long as the probe has: its parent ends it.
        """
        while (ended := self._attempt()) is None:
            pass
        return ended

    def _attempt(self) -> str | None:
        """One run of a server; None when it is to start again.

        The server's object must be gone before there is the next one: it closes a descriptor.
        """
        server = iperf3.Server(lib_name=LIBIPERF)
        server.json_output = False
        library = Library(server)
        library.set_int("one_off", 1)
        library.set_int("server_port", self._port)
        if self._address:
            library.set_text("bind_address", self._address)
        library.set_interval(0.5)
        guard = _Guard(library, self._port, self._order, self._channel, self._is_ready)
        guard.start()
        trouble = library.run("server")
        if guard.data_flowed:
            return trouble
        # It must not look at the server's memory any more: that is freed with the object.
        guard.over.set()
        guard.join()
        self._is_ready = self._is_ready or guard.listened
        if not library.could_listen and self._is_ready:
            # The peer knows this port and no other; who holds it may leave it again.
            time.sleep(_PORT_PAUSE_S)
            return None
        is_hopeless = not library.could_listen or kind_of(trouble) is FailureKind.REJECTED_SETTING
        return trouble if is_hopeless else None


class _Guard(threading.Thread):
    """Looks who is at the port, beside libiperf's thread, which blocks.

    `listened`: the server listens. `is_peer`: the peer has shown its token. `refused`: somebody was
    disconnected, and the server's run is to end. `data_flowed`: the peer's data has begun.
    """

    def __init__(
        self, library: Library, port: int, order: ReceiveOrder, channel: Channel, is_ready: bool
    ) -> None:
        super().__init__(daemon=True)
        self._library = library
        self._port = port
        self._order = order
        self._channel = channel
        self._is_ready = is_ready
        self._watch = PortWatch(port, order.source_address, _KERNEL_WAITS_S)
        self._streams = int(order.setting.get("streams", 1))
        self.over = threading.Event()
        self.listened = False
        self.is_peer = False
        self.refused = False
        self.data_flowed = False

    def run(self) -> None:
        deadline_s = time.monotonic() + _LISTEN_S
        while not self._watch.prepare():
            if self.over.wait(_LOOK_EVERY_S) or time.monotonic() > deadline_s:
                return  # The main thread reports libiperf's own error.
        self.listened = True
        if not self._is_ready:
            self._channel.versions({"libiperf": self._library.version})
            self._channel.ready(self._port)
        while not self.over.wait(_LOOK_EVERY_S):
            self._watch.prepare()
            accepted = self._watch.accepted()
            if self.refused or self._is_stranger_among(accepted):
                self.refused = True
                self._watch.refuse()
            elif self.is_peer and sum(one.received_bytes for one in self._data(accepted)) > (
                self._streams * _COOKIE_BYTES
            ):
                self.data_flowed = True
                self._sample()
                return

    def _sample(self) -> None:
        """Close the port, and report what arrives for as long as this process lives."""
        self._watch.close_port()
        streams = self._data(self._watch.accepted())
        if not streams:
            # The peer has left: what went wrong there, it says itself.
            self.data_flowed = False
            return
        if sum(one.received_bytes >= _COOKIE_BYTES for one in streams) < self._streams:
            # libiperf 3.12 may take a stranger that left at once for one of the streams.
            text = "another host connected to this probe's port while it began"
            self._channel.trouble(FailureKind.REFUSED, text)
            os._exit(0)
        every_s = self._order.sample_every_s
        Sampler(self._library, self._channel, every_s, self._streams, receiving=True).run()

    def _data(self, accepted: list[Accepted]) -> list[Accepted]:
        """The peer's connections without the control connection; none once that is closed."""
        try:
            control = os.fstat(self._library.control_descriptor()).st_ino
        except OSError:
            return []
        # libiperf has closed it where that descriptor is another file's by now.
        if all(one.inode != control for one in accepted):
            return []
        return [one for one in accepted if one.is_expected and one.inode != control]

    def _is_stranger_among(self, accepted: list[Accepted]) -> bool:
        """Whether somebody is connected whom libiperf waits for, or would take for the peer."""
        token = self._library.token()
        self.is_peer = token == self._order.token
        if token is not None and not self.is_peer:
            return True
        for one in accepted:
            # libiperf refuses by itself who shows another cookie, once the peer has shown its own.
            has_cookie = self.is_peer and one.received_bytes >= _COOKIE_BYTES
            if not has_cookie and (not one.is_expected or one.age_s > _SILENCE_S):
                return True
        return False
