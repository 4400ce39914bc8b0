"""Advice from Python: the notebook of the manual, and sessions that are ended."""

import ast
import asyncio
import inspect
import json
from pathlib import Path
from typing import Any

import pytest

import advisor
from advisor.domain.problem import ProblemKind
from advisor.domain.records import SessionRecord
from advisor.store.history import Store

from .program import Start, children_left, own_environment

NOTEBOOK = Path(__file__).parents[2] / "docs/notebooks/first-advice.ipynb"
ASKED: dict[str, Any] = {"budget_s": 24, "transports": ["tcp"], "seed": 5, "size_bytes": 10**12}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folders of a user of its own, for this process and its children."""
    for name, value in own_environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    return tmp_path


def requests(home: Path) -> list[dict[str, Any]]:
    store = Store(home / "data/advisor/history")
    records = [record for pair in store.stored_pairs() for record in store.records(pair)]
    return [record.request for record in records if isinstance(record, SessionRecord)]


async def executed(cells: list[str]) -> dict[str, Any]:
    """Run them one after the other, in a running event loop, as a kernel of Jupyter does."""
    names: dict[str, Any] = {}
    for number, source in enumerate(cells):
        code = compile(source, f"cell {number}", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        if code.co_flags & inspect.CO_COROUTINE:
            await eval(code, names)
        else:
            exec(code, names)
    return names


def test_the_notebook_does_what_it_says(
    home: Path, start: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    names = asyncio.run(executed(code))
    shown = capsys.readouterr().out
    assert names["advice"].expected_bps > 0
    assert names["advice"].commands[0].shell in shown
    assert set(names["probes"]["session"]) == {names["advice"].session}
    assert "--budget 100 ms is too short" in shown
    # A session from Python is a session: the command line lists the same.
    listed = start("history", "sessions", "--json").finish()
    known = {one["session"]: one for one in json.loads(listed.stdout)}
    assert set(known) == set(names["sessions"]["session"])
    assert known[names["advice"].session]["state"] == "advised"
    assert known[names["event"].session]["probes"] == names["measured"]


def test_it_asks_for_the_same_as_the_command_line(home: Path, start: Start) -> None:
    async def first_probe() -> None:
        session = advisor.advise("localhost", **ASKED)
        async for event in session:
            if isinstance(event, advisor.events.ProbeStarted):
                break

    asyncio.run(first_probe())
    words = ("--budget", "24", "--transports", "tcp", "--seed", "5", "--size", "1TB")
    run = start("advise", "localhost", "--json", *words)
    run.wait_for("probe_started")
    run.kill()
    by_python, by_command = requests(home)
    assert by_python == by_command


def test_cancelling_the_task_leaves_no_process(home: Path) -> None:
    probing = asyncio.Event()

    async def follow() -> None:
        async for event in advisor.advise("localhost", **ASKED):
            if isinstance(event, advisor.events.IntervalSeen):
                probing.set()

    async def main() -> None:
        task = asyncio.create_task(follow())
        await probing.wait()
        assert children_left(home)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not children_left(home)

    asyncio.run(main())


def test_cancel_ends_a_session_that_is_awaited(home: Path) -> None:
    async def main() -> None:
        session = advisor.advise("localhost", **ASKED)
        task = asyncio.ensure_future(session._advice())
        while not requests(home):
            await asyncio.sleep(0.05)
        await session.cancel()
        assert not children_left(home)
        with pytest.raises(advisor.AdvisorError) as caught:
            await task
        assert caught.value.problem.kind is ProblemKind.STOPPED
        with pytest.raises(advisor.AdvisorError, match="started before"):
            await session

    asyncio.run(main())


def test_a_script_without_a_loop_waits_for_what_went_wrong() -> None:
    with pytest.raises(advisor.AdvisorError) as caught:
        advisor.advise("localhost", options={"gain-ratio": "none"}).wait()
    assert caught.value.problem.kind is ProblemKind.INVALID
    assert caught.value.problem.command == "advisor advise --help"
    assert "(see" not in caught.value.problem.reason


def test_what_looks_like_an_option_is_a_destination() -> None:
    with pytest.raises(advisor.AdvisorError, match="'--help' is not a host"):
        advisor.advise("--help").wait()
