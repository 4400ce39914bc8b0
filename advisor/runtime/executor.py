"""Runs independent tasks of a heavy computation: in this process, or on the workers of Dask.

A computation calls `Executor.results` and does not know which of the two it has. Tasks carry all
that they need, seeds included, and results come in the order of the tasks: so they are the same
wherever, and in whatever order, the tasks ran.
"""

import importlib.metadata
import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Generic, Protocol, TypeVar

import msgspec

import advisor
from advisor.domain.addresses import parse_host_port
from advisor.domain.problem import ProblemError, ProblemKind

Task = TypeVar("Task")
Result = TypeVar("Result")

LOCAL: Final = "local"
"""The address that stands for workers on this host, which end with the program."""

_SCHEMES: Final = ("tcp", "tls")
_LIBRARIES: Final = ("msgspec", "numpy", "scikit-learn", "scipy")


class CannotCompute(ProblemError):
    """The workers cannot be used, or were lost."""


@dataclass(frozen=True)
class Computation(Generic[Task, Result]):
    """What is done with each task.

    `function`: of a module, without side effects, with no randomness but from the task's seed.
    `result`: its type, which msgspec can decode; what a worker sends is checked against it.
    """

    function: Callable[[Task], Result]
    result: type[Result]


class Executor(Protocol):
    """Where tasks run. `notice`: one sentence for the user, "" if there is none."""

    notice: str

    def results(
        self, computation: Computation[Task, Result], tasks: Iterable[Task], *, batch: int = 1
    ) -> Iterator[tuple[Task, Result]]:
        """Each task with its result, in the order of the tasks, which are taken as needed.

        `batch`: how many tasks in succession make a piece of work that is worth sending; the
        results do not depend on it. Whoever leaves the iterator ends the computation. Raises
        CannotCompute, and what the function raises in this process.
        """


class InThisProcess:
    """Runs one task after another, each when its result is asked for."""

    notice = ""

    def results(
        self, computation: Computation[Task, Result], tasks: Iterable[Task], *, batch: int = 1
    ) -> Iterator[tuple[Task, Result]]:
        """See Executor."""
        for task in tasks:
            yield task, computation.function(task)


def parse_dask(text: str) -> str:
    """`local`, `tcp://HOST:PORT` or `tls://HOST:PORT`. Raises ValueError."""
    if text == LOCAL:
        return text
    scheme, separator, place = text.partition("://")
    if scheme not in _SCHEMES or not separator:
        raise ValueError("write tcp://HOST:PORT, tls://HOST:PORT or local")
    host, port = parse_host_port(place)
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


class Answer(msgspec.Struct, frozen=True):
    """What a worker sends: the results, or why it did not even begin."""

    results: list[msgspec.Raw] = []
    refused: str = ""


@cache
def versions() -> dict[str, str]:
    """What the results depend on beside the tasks."""
    found = {one: _version(one) for one in _LIBRARIES}
    python = ".".join(platform.python_version_tuple()[:2])
    return {"advisor": advisor.__version__, "Python": python, **found}


def _version(library: str) -> str:
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def run_batch(
    function: Callable[[Task], object], tasks: Sequence[Task], expected: dict[str, str]
) -> bytes:
    """Run tasks in a worker that has these versions; an Answer as MessagePack."""
    own = versions()
    differing = [f"{k} {own.get(k)}, not {v}" for k, v in expected.items() if own.get(k) != v]
    if differing:
        return msgspec.msgpack.encode(Answer(refused=f"a worker has {'; '.join(differing)}"))
    results = [msgspec.Raw(msgspec.msgpack.encode(function(task))) for task in tasks]
    return msgspec.msgpack.encode(Answer(results=results))


def read_answer(answer: object, result: type[Result], tasks: int) -> list[Result]:
    """What `run_batch` sent for that many tasks. Raises CannotCompute."""
    try:
        found = msgspec.msgpack.decode(_as_bytes(answer), type=Answer)
        if found.refused:
            raise CannotCompute(
                found.refused,
                kind=ProblemKind.UNSUPPORTED,
                remedy="install the same versions where the workers run",
            )
        decoder = msgspec.msgpack.Decoder(result)
        results = [decoder.decode(one) for one in found.results]
    except msgspec.DecodeError as error:
        raise CannotCompute(f"a worker's answer cannot be used: {error}") from None
    if len(results) != tasks:
        raise CannotCompute(f"a worker sent {len(results)} results for {tasks} tasks")
    return results


def _as_bytes(answer: object) -> bytes:
    if not isinstance(answer, bytes):
        raise CannotCompute(f"a worker's answer cannot be used: it is a {type(answer).__name__}")
    return answer
