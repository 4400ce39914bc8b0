"""A transport for tests: one plain socket, with blocks of a size to search."""

import socket
import threading
import time
from contextlib import suppress

from advisor.api.network import repeat_every
from advisor.api.transport import Channel, ReceiveOrder, SendOrder, SpaceOptions, TransportTraits
from advisor.api.values import (
    AVAILABLE,
    Availability,
    Baseline,
    FailureKind,
    Parameter,
    PathFacts,
    Scale,
    Setting,
    Space,
)

_DEFAULT_BLOCK = 65536


class _Count:
    total = 0


def _report(every_s: float, channel: Channel, count: _Count) -> None:
    """Tell the total now and then, for as long as the process lives."""
    threading.Thread(
        target=repeat_every,
        args=(every_s, lambda: channel.sample(count.total)),
        daemon=True,
    ).start()


class Pipes:
    """The transport `pipes`."""

    name = "pipes"
    summary = "one plain socket"
    traits = TransportTraits(
        label="Pipes", cost_rank=7, budget_weight=6.0, mark="♦", colour="error"
    )

    def available(self) -> Availability:
        return AVAILABLE

    def variants(self, path: PathFacts, congestion: list[str]) -> list[Setting]:
        return [{}]

    def space(self, path: PathFacts, fixed: Setting, options: SpaceOptions) -> Space:
        block = Parameter(name="block_bytes", unit="B", lower=4096, upper=2**20, scale=Scale.LOG2)
        return Space(parameters=(block,), cost_order=("block_bytes",), fixed=fixed, note="blocks")

    def baselines(self, path: PathFacts) -> list[Baseline]:
        return [Baseline("default", {"block_bytes": _DEFAULT_BLOCK})]

    def receive(self, order: ReceiveOrder, channel: Channel) -> None:
        family = socket.AF_INET6 if ":" in order.source_address else socket.AF_INET
        with socket.socket(family) as listener:
            listener.bind(("::" if family == socket.AF_INET6 else "0.0.0.0", order.ports[0]))
            listener.listen(1)
            listener.settimeout(10)
            channel.versions({"pipes": "1"})
            channel.ready(listener.getsockname()[1])
            accepted, _ = listener.accept()
        with accepted:
            accepted.settimeout(order.ceiling_s + 5)
            if accepted.recv(32, socket.MSG_WAITALL) != order.token.encode():
                channel.trouble(FailureKind.REFUSED, "a stranger came")
                return
            count = _Count()
            _report(order.sample_every_s, channel, count)
            with suppress(OSError):
                while got := len(accepted.recv(2**20)):
                    count.total += got

    def send(self, order: SendOrder, channel: Channel) -> None:
        channel.versions({"pipes": "1"})
        with socket.create_connection((order.address, order.port), timeout=10) as sender:
            sender.sendall(order.token.encode())
            count = _Count()
            _report(order.sample_every_s, channel, count)
            block = bytes(int(order.setting["block_bytes"]))
            until_s = time.monotonic() + order.ceiling_s
            while time.monotonic() < until_s:
                sender.sendall(block)
                count.total += len(block)


plugin = Pipes()
