"""Opens the executor that a user asked for; Dask is loaded for nobody else."""

import contextlib
from collections.abc import Iterator

from advisor.domain.problem import ProblemKind
from advisor.runtime.executor import CannotCompute, Executor, InThisProcess


@contextlib.contextmanager
def open_executor(dask: str | None) -> Iterator[Executor]:
    """The executor at an address of `parse_dask`; None for this process.

    On every way out, tasks that wait are cancelled and local workers are ended. Raises
    CannotCompute: without the extra, and if no scheduler answers.
    """
    if dask is None:
        yield InThisProcess()
        return
    try:
        from advisor.runtime.dask_executor import opened
    except ModuleNotFoundError as error:
        raise CannotCompute(
            f"it needs distributed ({error})",
            kind=ProblemKind.MISSING,
            remedy="install the extra dask: pip install 'data-transfer-advisor[dask]'",
        ) from None
    with opened(dask) as executor:
        yield executor
