"""A Dask scheduler and its workers on this host, for one computation.

They are children that end with this program, however that ends, and Ctrl-C of its terminal does
not reach them. Nobody can connect without the certificate that is made for them.
"""

import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from advisor.domain.problem import ProblemKind
from advisor.hosts.processes import Daemon, server_bound_to_stdin
from advisor.runtime.executor import CannotCompute

START_S: Final = 60.0
"""For the scheduler, and then for the first worker."""
_TLS: Final = "advisor.runtime.dask_tls"
_ENVIRONMENT: Final = {
    # A server for browsers begins in any case: without pages.
    "DASK_DISTRIBUTED__SCHEDULER__HTTP__ROUTES": "[]",
    "DASK_DISTRIBUTED__WORKER__HTTP__ROUTES": "[]",
}


@contextlib.contextmanager
def local_cluster(certificate: str, key: str) -> Iterator[str]:
    """The address of a scheduler with a worker for each core. Raises CannotCompute.

    `certificate`, `key`: as PEM; they are for both sides of each connection, and in a folder of
    this user's alone.
    """
    with tempfile.TemporaryDirectory(prefix="advisor-dask-") as name:
        folder = Path(name)
        (folder / "certificate.pem").write_text(certificate)
        (folder / "key.pem").write_text(key)
        with _started(folder, "scheduler", _scheduler(folder)):
            address = _address(folder)
            with _started(folder, "worker", _workers(folder, address)):
                yield address


def _tls(folder: Path) -> list[str]:
    certificate, key = str(folder / "certificate.pem"), str(folder / "key.pem")
    return ["--tls-ca-file", certificate, "--tls-cert", certificate, "--tls-key", key]


def _scheduler(folder: Path) -> list[str]:
    where = ["--host", "tls://127.0.0.1", "--port", "0", "--dashboard-address", "127.0.0.1:0"]
    return [*where, "--no-dashboard", "--scheduler-file", str(folder / "scheduler.json")]


def _workers(folder: Path, address: str) -> list[str]:
    number = len(os.sched_getaffinity(0))
    size = ["--nworkers", str(number), "--nthreads", "1", "--memory-limit", "0"]
    size += ["--preload-nanny", _TLS]
    where = ["--host", "tls://127.0.0.1", "--local-directory", str(folder), "--no-dashboard"]
    return [address, *size, *where]


@contextlib.contextmanager
def _started(folder: Path, what: str, arguments: list[str]) -> Iterator[None]:
    module = f"distributed.cli.dask_{what}"
    argv = [sys.executable, "-m", module, *arguments, *_tls(folder), "--preload", _TLS]
    environment = os.environ | _ENVIRONMENT
    try:
        child = Daemon(server_bound_to_stdin(argv), folder / f"{what}.log", environment)
    except OSError as error:
        raise CannotCompute(f"a Dask {what} cannot be started: {error}") from None
    try:
        yield
    finally:
        child.kill()


def _address(folder: Path) -> str:
    """The address that the scheduler writes down when it is ready."""
    until = time.monotonic() + START_S
    file = folder / "scheduler.json"
    while time.monotonic() < until:
        # It may be half written.
        with contextlib.suppress(FileNotFoundError, ValueError, KeyError):
            return str(json.loads(file.read_text())["address"])
        time.sleep(0.05)
    last = (folder / "scheduler.log").read_text(errors="replace").strip().splitlines()[-1:]
    raise CannotCompute(
        f"the Dask scheduler of this host does not begin: {''.join(last)}",
        kind=ProblemKind.UNREACHABLE,
    )
