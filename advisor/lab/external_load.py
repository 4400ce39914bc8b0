"""External load as in the direct-search paper: traffic (ext.tfr) and computing (ext.cmp).

`python -m advisor.lab.external_load send ADDRESS PORT STREAMS`, `receive PORT` and `compute` are
the programs; each runs until it is killed.
"""

import ctypes
import sys
import time
from typing import TYPE_CHECKING, Final

from advisor.hosts.libraries import LIBIPERF
from advisor.hosts.processes import Child, server_bound_to_stdin, start
from advisor.lab.networks import Network

if TYPE_CHECKING:
    import iperf3

_PORT: Final = 5198
_DAY_S: Final = 86_400
_RETRY_S: Final = 0.2
_MATRIX: Final = 1000


class ExternalLoad:
    """The present external load of a lab."""

    def __init__(self) -> None:
        self.transfers = 0
        self.compute = 0
        self._traffic: list[Child] = []
        self._computing: list[Child] = []

    async def have_transfers(
        self, count: int, source: Network, destination: Network, address: str
    ) -> None:
        """Run that many parallel TCP streams from now on, replacing the present ones."""
        await _end(self._traffic)
        self.transfers = count
        if count:
            for network, words in (
                (destination, ["receive", str(_PORT)]),
                (source, ["send", address, str(_PORT), str(count)]),
            ):
                self._traffic.append(
                    await start([*network.prefix, *server_bound_to_stdin(_program(words))])
                )

    async def have_compute(self, count: int) -> None:
        """Run that many processes that multiply matrices from now on."""
        await _end(self._computing[count:])
        del self._computing[count:]
        while len(self._computing) < count:
            self._computing.append(await start(server_bound_to_stdin(_program(["compute"]))))
        self.compute = count

    async def close(self) -> None:
        """End all load."""
        await _end(self._traffic + self._computing)


async def _end(children: list[Child]) -> None:
    for child in children:
        await child.end()
    children.clear()


def _program(words: list[str]) -> list[str]:
    return [sys.executable, "-P", "-m", "advisor.lab.external_load", *words]


def receiver(port: int) -> "iperf3.Server":
    """A receiver of one run."""
    import iperf3

    server = iperf3.Server(lib_name=LIBIPERF)
    server.port = port
    server.verbose = False
    _report_nothing(server)
    return server


def sender(address: str, port: int, streams: int) -> "iperf3.Client":
    """A sender of one run, which lasts a day."""
    import iperf3

    client = iperf3.Client(lib_name=LIBIPERF)
    client.server_hostname = address
    client.port = port
    client.num_streams = streams
    client.duration = _DAY_S
    client.verbose = False
    _report_nothing(client)
    return client


def _report_nothing(end: "iperf3.IPerf3") -> None:
    """Make no report while it runs: libiperf keeps those of every stream and second until the end.

    The binding lacks these calls; it holds the pointer as a number, which ctypes would truncate.
    """
    for kind in ("stats", "reporter"):
        set_interval = getattr(end.lib, f"iperf_set_test_{kind}_interval")
        set_interval(ctypes.c_void_p(end._test), ctypes.c_double(0.0))


def _receive(port: int) -> None:
    while True:
        receiver(port).run()


def _send(address: str, port: int, streams: int) -> None:
    while True:
        sender(address, port, streams).run()
        time.sleep(_RETRY_S)  # The receiver is not ready yet, or the path was cut.


def _compute() -> None:
    import numpy as np

    left = np.ones((_MATRIX, _MATRIX))
    right = np.ones((_MATRIX, _MATRIX))
    while True:
        np.matmul(left, right)


def main(arguments: list[str]) -> None:
    """Run one kind of load until killed."""
    match arguments:
        case ["receive", port]:
            _receive(int(port))
        case ["send", address, port, streams]:
            _send(address, int(port), int(streams))
        case ["compute"]:
            _compute()


if __name__ == "__main__":
    main(sys.argv[1:])
