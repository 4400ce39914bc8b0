"""`--dask`: where the independent tasks of a heavy computation run."""

import contextlib
from collections.abc import Iterator
from typing import Annotated

import typer

from advisor.cli import parameters as p
from advisor.cli.errors import CommandFailed, UsageError
from advisor.domain.problem import ProblemKind
from advisor.report.output import say
from advisor.runtime.executor import CannotCompute, Executor, parse_dask
from advisor.runtime.open_executor import open_executor

DaskOption = Annotated[
    str | None,
    typer.Option(
        "--dask",
        parser=p.parsed(parse_dask),
        metavar="ADDRESS",
        help="Compute on the workers of a Dask scheduler, tcp://HOST:PORT or tls://HOST:PORT, "
        "or local: a worker for each core of this host.",
    ),
]
"""`--dask ADDRESS`; without it everything runs in this process."""


@contextlib.contextmanager
def executor_at(dask: str | None) -> Iterator[Executor]:
    """The executor of `--dask`, after what it has to say."""
    try:
        with open_executor(dask) as executor:
            if executor.notice:
                say(f"advisor: {executor.notice}", err=True)
            yield executor
    except CannotCompute as error:
        missing = error.problem.kind is ProblemKind.MISSING
        raise (UsageError if missing else CommandFailed).about("--dask", error) from None
