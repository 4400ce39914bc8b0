"""A problem as data: what is kept when it is met again, and which exceptions carry one."""

import importlib
import inspect
import pkgutil

import msgspec
import pytest

import advisor
from advisor.agent.peer_errors import PeerError
from advisor.cli.errors import UsageError
from advisor.domain.problem import Problem, ProblemError, ProblemKind, problem_of
from advisor.store.errors import StoreFull

# They end work on the user's order, say why one entry of a file is left out, become the outcome of
# a probe, or are met where the database's own errors are.
_NO_PROBLEMS = {"Stopped", "ReadingStopped", "RefusedError", "ProbeFailed", "NoAnswer", "GivenUp"}


def test_one_line() -> None:
    known = {"kind": ProblemKind.MISSING, "reason": "no lab 'w' is up"}
    assert str(msgspec.convert(known, Problem)) == "no lab 'w' is up"
    with_command = msgspec.convert({**known, "command": "advisor lab up w"}, Problem)
    assert str(with_command) == "no lab 'w' is up: advisor lab up w"
    with_both = msgspec.structs.replace(with_command, remedy="'advisor lab up w' starts it")
    assert str(with_both) == "no lab 'w' is up: 'advisor lab up w' starts it"


def test_a_problem_met_in_an_option_keeps_its_remedy() -> None:
    inner = PeerError("dtn is unknown", remedy="log in", command="ssh dtn", host="a", folder="b")
    outer = UsageError.about("--agent", inner)
    assert outer.problem == Problem(
        kind=ProblemKind.UNREACHABLE,
        reason="--agent: dtn is unknown",
        remedy="log in",
        command="ssh dtn",
        host="a",
        folder="b",
    )
    assert str(outer) == outer.format_message() == "--agent: dtn is unknown: log in"
    assert UsageError.about("", ValueError("3 is odd")).problem == Problem(
        kind=ProblemKind.INVALID, reason="3 is odd"
    )


@pytest.mark.parametrize(
    ("error", "kind", "reason"),
    [
        (StoreFull("no room"), ProblemKind.NO_SPACE, "no room"),
        (FileNotFoundError(2, "No such file", "/a"), ProblemKind.FAILED, "/a: No such file"),
        (OSError(28, "No space left"), ProblemKind.FAILED, "No space left"),
        (KeyError(), ProblemKind.FAILED, "KeyError"),
    ],
)
def test_of_any_exception(error: Exception, kind: ProblemKind, reason: str) -> None:
    assert problem_of(error) == Problem(kind=kind, reason=reason)


def test_every_public_exception_carries_one() -> None:
    without = set()
    for module in pkgutil.walk_packages(advisor.__path__, "advisor."):
        if module.name == "advisor.__main__" or module.name.startswith("advisor.testing"):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if inspect.isclass(value) and value.__module__ == module.name:
                is_public_error = issubclass(value, Exception) and not name.startswith("_")
                if is_public_error and not issubclass(value, ProblemError):
                    without.add(name)
    assert without == _NO_PROBLEMS
