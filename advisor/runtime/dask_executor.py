"""Tasks on the workers of a Dask cluster. The only module that imports Dask.

What is sent is pickled, and a scheduler or a worker runs what it is sent: docs/security.md says
whom that trusts. Results come back as bytes, and are decoded as values of our own types.
"""

import asyncio
import contextlib
import itertools
import logging
import re
import warnings
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from typing import Any, Final

import dask
from distributed import Client, KilledWorker
from distributed.comm.core import connect
from distributed.security import Security

from advisor.domain.problem import ProblemKind
from advisor.runtime import dask_tls as dask_tls  # For its effect.
from advisor.runtime.dask_local import START_S, local_cluster
from advisor.runtime.executor import (
    LOCAL,
    CannotCompute,
    Computation,
    Result,
    Task,
    read_answer,
    run_batch,
    versions,
)

_ANSWER_S: Final = 4.0
"""A scheduler that has not answered by then is taken for one that will not. One that was begun just
now on a busy host has as long as for its start."""
_CLOSE_S: Final = 3.0
# Enough that workers have something to do while the oldest batch is repeated after a loss.
_UNFINISHED: Final = 256
_CONFIGURATION: Final = {
    # Tasks are data, and may be large.
    "distributed.admin.large-graph-warning-threshold": "1 GiB",
}


class DaskExecutor:
    """See Executor."""

    def __init__(self, client: Client, notice: str = "") -> None:
        self.notice = notice
        self._client = client

    def results(
        self, computation: Computation[Task, Result], tasks: Iterable[Task], *, batch: int = 1
    ) -> Iterator[tuple[Task, Result]]:
        """See Executor. Batches that have begun run to their end, and are thrown away."""
        sent = (self._send(computation, one) for one in _batches(tasks, batch))
        unfinished = deque(itertools.islice(sent, _UNFINISHED))
        try:
            while unfinished:
                of, future = unfinished[0]
                results = read_answer(_answer(future), computation.result, len(of))
                unfinished.popleft()
                yield from zip(of, results, strict=True)
                unfinished.extend(itertools.islice(sent, 1))
        finally:
            self._cancel([future for _, future in unfinished])

    def _send(
        self, computation: Computation[Task, Result], batch: list[Task]
    ) -> tuple[list[Task], Any]:
        return batch, self._client.submit(
            run_batch, computation.function, batch, versions(), pure=False
        )

    def _cancel(self, futures: list[Any]) -> None:
        # Where the connection is lost there is nothing left to cancel.
        if futures and self._client.status == "running":
            self._client.cancel(futures, force=True)


def _answer(future: Any) -> object:
    try:
        return future.result()
    except KilledWorker as error:
        raise CannotCompute(
            f"a piece of work was lost with each of {error.allowed_failures + 1} workers",
            remedy="see what ended them; often it is too little memory",
            kind=ProblemKind.LOST,
        ) from None
    except CancelledError:
        raise CannotCompute(
            "the connection to the Dask scheduler was lost",
            remedy="see whether it still runs, and begin again",
            kind=ProblemKind.LOST,
        ) from None
    except Exception as error:
        raise CannotCompute(
            f"a worker failed: {type(error).__name__}: {error}",
            remedy="see that advisor and the same plugins are installed where the workers run",
        ) from error


def _batches(tasks: Iterable[Task], size: int) -> Iterator[list[Task]]:
    remaining = iter(tasks)
    while batch := list(itertools.islice(remaining, size)):
        yield batch


@contextlib.contextmanager
def opened(address: str) -> Iterator[DaskExecutor]:
    """The executor at an address, or on workers of this host. Raises CannotCompute."""
    # Its log is not shown: our own sentences say what ends the computation.
    for name in ("distributed", *logging.root.manager.loggerDict):
        if name.split(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    with contextlib.ExitStack() as stack:
        stack.enter_context(dask.config.set(_CONFIGURATION))
        if address == LOCAL:
            own = Security.temporary()
            place = local_cluster(own.tls_client_cert, own.tls_client_key)
            client = _connected(stack.enter_context(place), own, START_S)
        else:
            client = _connected(address, None, _ANSWER_S)
        stack.callback(_close, client)
        if address == LOCAL:
            _wait_for_worker(client)
        yield DaskExecutor(client, _notice(client, address))


def _connected(address: str, security: Security | None, answer_s: float) -> Client:
    """`security`: None for what Dask's own configuration says."""
    secured = security or Security()
    try:
        asyncio.run(asyncio.wait_for(_greet(address, secured, answer_s), answer_s))
        with warnings.catch_warnings():
            # Versions that matter are compared with each batch.
            warnings.simplefilter("ignore")
            return Client(address, security=secured, timeout=answer_s, set_as_default=False)
    # Sizes and types of whatever else listens there are no sizes and types to it.
    except (OSError, ImportError, MemoryError, ValueError) as error:
        raise CannotCompute(
            f"no Dask scheduler answers at {address} ({_reason(error, answer_s)})",
            remedy="see that it runs, that this host may reach it, and that both use TLS or none",
            kind=ProblemKind.UNREACHABLE,
        ) from None
    except (TypeError, RuntimeError) as error:
        raise CannotCompute(
            f"the scheduler at {address} cannot be used ({_reason(error, answer_s)})",
            remedy="give tls://HOST:PORT, and the certificates in Dask's configuration",
            kind=ProblemKind.REFUSED,
        ) from None


async def _greet(address: str, security: Security, answer_s: float) -> None:
    """Wait for the scheduler's greeting, which `Client` would do without a limit of time."""
    comm = await connect(address, timeout=answer_s, **security.get_connection_args("client"))
    await comm.close()


def _reason(error: BaseException, answer_s: float) -> str:
    if isinstance(error, TimeoutError) and not str(error):
        return f"nothing came in {answer_s:.0f} s"
    lines = (str(error.__cause__ or error) or type(error).__name__).splitlines()
    return re.sub(r"in <[^>]*>: |^\w*Error: ", "", lines[0])


def _wait_for_worker(client: Client) -> None:
    try:
        client.wait_for_workers(1, timeout=START_S)
    except TimeoutError:
        raise CannotCompute(
            f"no Dask worker of this host began in {START_S:.0f} s",
            remedy="compute without --dask, or begin workers by yourself: dask worker ADDRESS",
        ) from None


def _notice(client: Client, address: str) -> str:
    if client.nthreads():
        return ""
    return f"{address} has no worker yet: the work begins when one has joined"


def _close(client: Client) -> None:
    with contextlib.suppress(TimeoutError, OSError):
        client.close(timeout=_CLOSE_S)
