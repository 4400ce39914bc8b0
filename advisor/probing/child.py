"""The program that runs one end of one probe: `python -m advisor.probing.child`.

It reads one order as a line of JSON, runs that end of the transport, and writes reports as lines
of JSON to its original standard output. Output of the foreign code is redirected to standard error
and kept as the probe's raw output. The program exits as soon as its standard input is closed: this
is how the parent stops it, and what happens when the parent dies.
"""

import os
import sys
import threading
import time

import msgspec
import psutil

from advisor import registry
from advisor.api.transport import Ready as ReadyReport
from advisor.api.transport import (
    ReceiveOrder,
    Report,
    Sample,
    SendingState,
    SendOrder,
    Trouble,
    Versions,
)
from advisor.domain.measurement import FailureKind


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """Which end of which transport to run. Exactly one of the orders is given."""

    transport: str
    receive: ReceiveOrder | None = None
    send: SendOrder | None = None


class PipeChannel:
    """Reports as lines of JSON on a file descriptor; one write per line, so they never mix."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self._encoder = msgspec.json.Encoder()
        self._process = psutil.Process()

    def _write(self, report: Report) -> None:
        line = self._encoder.encode(report) + b"\n"
        try:
            with self._lock:
                os.write(self._descriptor, line)
        except BrokenPipeError:
            os._exit(0)  # The parent is gone: nothing is left to report to.

    def ready(self, port: int) -> None:
        """The receiver listens on this port."""
        self._write(ReadyReport(port=port))

    def versions(self, versions: dict[str, str]) -> None:
        """The tools and libraries in use, by name."""
        self._write(Versions(versions=versions))

    def sample(
        self,
        total_bytes: int,
        *,
        retransmits: int | None = None,
        rtt_s: float | None = None,
        arrived_bytes: int | None = None,
        granted: dict[str, int] | None = None,
        sending: SendingState | None = None,
    ) -> None:
        """The running totals now, with the CPU time of this process and of the host."""
        host = psutil.cpu_times()
        # Guest time is already counted as user time.
        all_s = sum(host) - getattr(host, "guest", 0.0) - getattr(host, "guest_nice", 0.0)
        own = os.times()
        threads = self._process.threads()
        self._write(
            Sample(
                t_s=time.monotonic(),
                total_bytes=total_bytes,
                cpu_s=own.user + own.system,
                busy_s=all_s - host.idle - getattr(host, "iowait", 0.0),
                host_s=all_s,
                retransmits=retransmits,
                rtt_s=rtt_s,
                arrived_bytes=arrived_bytes,
                granted=granted or {},
                sending=sending,
                thread_cpu_s=max((t.user_time + t.system_time for t in threads), default=None),
            )
        )

    def trouble(self, kind: FailureKind, message: str) -> None:
        """Report that this end cannot continue."""
        self._write(Trouble(kind=kind, message=message))


def _leave_when_input_ends() -> None:
    while os.read(0, 4096):
        pass
    os._exit(0)


def _private_stdout() -> int:
    """Reserve the original standard output for reports: redirect descriptor 1 to standard error."""
    private = os.dup(1)
    os.dup2(2, 1)
    return private


def main() -> None:
    """Run one order and exit."""
    channel = PipeChannel(_private_stdout())
    registry.load_transports_of_folders()  # Now, before the order arrives.
    # Unbuffered: a buffer would consume input that follows the order's line.
    with os.fdopen(os.dup(0), "rb", buffering=0) as orders:
        line = orders.readline()
    if not line:
        return
    task = msgspec.json.decode(line, type=Task)
    threading.Thread(target=_leave_when_input_ends, daemon=True).start()
    try:
        transport = registry.transport(task.transport)
        if task.receive is not None:
            transport.receive(task.receive, channel)
        elif task.send is not None:
            transport.send(task.send, channel)
    except Exception as error:
        channel.trouble(FailureKind.CRASHED, f"{type(error).__name__}: {error}")
        raise
    finally:
        # The foreign library may have left threads that keep the process alive.
        sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
