"""How the two sides of a transfer come to one result; the sides are stand-ins, for our logic."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any, cast

import msgspec
import pytest

from advisor.agent.client import AgentLink
from advisor.agent.peer_errors import PeerGone
from advisor.api.tool import Piece, Step, TransferOrder, TransferTool
from advisor.domain.advice import Side
from advisor.probing.transfer import Ran
from advisor.runtime import tool_steps
from advisor.runtime.tool_steps import run_steps
from advisor.testing.samples import a_path

ORDER = TransferOrder(
    setting={"streams": 1},
    pieces=(Piece(source="/a", target="/b", size_bytes=1),),
    path=a_path(),
    destination_host="dtn",
    list_file="/list",
)
RAN = Ran(
    status=0,
    intervals=[],
    moved_bytes=1,
    begun_s=0.1,
    elapsed_s=0.2,
    retransmits=0,
    rtt_s=None,
    output="here",
    errors="trouble here",
)


class Tool:
    name = "stand-in"

    def __init__(self, *sides: Side) -> None:
        self._sides = sides

    def steps(self, order: TransferOrder) -> list[Step]:
        return [Step(side=side, argv=[side, str(order.base_port)]) for side in self._sides]


class There:
    """The destination: ends with this, or when it is left."""

    def __init__(self, end: tuple[int, str, str] | Exception | None, base_port: int | None) -> None:
        self._end = end
        self.base_port = base_port
        self.left = False

    async def ended(self) -> tuple[int, str, str]:
        if self._end is None:
            await asyncio.Event().wait()
        if isinstance(self._end, Exception):
            raise self._end
        assert self._end
        return self._end

    @contextlib.asynccontextmanager
    async def step(self, _: str, __: TransferOrder) -> AsyncIterator["There"]:
        try:
            yield self
        finally:
            self.left = True


class Here:
    """The source: gives this, or hangs."""

    def __init__(self, ran: Ran | None) -> None:
        self._ran = ran
        self.argv: list[str] = []
        self.was_cut = False

    async def run(self, step: Step) -> Ran:
        self.argv = step.argv
        try:
            # Whoever is done already comes first.
            await asyncio.sleep(0.05)
            if self._ran is None:
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.was_cut = True
            raise
        assert self._ran
        return self._ran


TWO = Tool("destination", "source")


def outcome(tool: Tool, here: Here, there: There) -> Ran:
    async def run() -> Ran:
        link, its_tool = cast(AgentLink, there), cast(TransferTool, tool)
        async with asyncio.timeout(20):
            return await run_steps(link, its_tool, ORDER, here.run)

    return asyncio.run(run())


@pytest.fixture(autouse=True)
def _short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_steps, "_GRACE_S", 0.2)


def changed(**changes: Any) -> Ran:
    return msgspec.structs.replace(RAN, **changes)


def test_a_tool_of_one_step_needs_nothing_of_the_agent() -> None:
    here = Here(RAN)
    assert outcome(Tool("source"), here, cast(There, None)) == RAN
    assert here.argv == ["source", "0"]


def test_the_source_learns_the_ports_that_the_agent_chose() -> None:
    here, there = Here(RAN), There((0, "", ""), 4711)
    assert outcome(TWO, here, there).status == 0
    assert here.argv == ["source", "4711"]
    assert there.left


@pytest.mark.parametrize(("here", "there", "status"), [(0, 5, 5), (7, 0, 7), (7, 5, 7), (0, 0, 0)])
def test_whose_status_counts(here: int, there: int, status: int) -> None:
    ran = outcome(TWO, Here(changed(status=here)), There((there, "there", "trouble there"), 1))
    assert ran.status == status
    assert ran.errors.split("\n") == ["trouble here", "trouble there"]
    assert ran.output.split("\n") == ["here", "there"]


def test_a_destination_that_does_not_end_is_stopped() -> None:
    there = There(None, 1)
    assert outcome(TWO, Here(RAN), there) == RAN
    assert there.left


def test_a_source_that_was_cut_is_no_failure_of_the_destination() -> None:
    there = There(None, 1)
    assert outcome(TWO, Here(changed(status=None)), there).status is None
    assert there.left


def test_a_source_that_hangs_when_the_destination_failed() -> None:
    here = Here(None)
    ran = outcome(TWO, here, There((9, "", "no room"), 1))
    assert (ran.status, ran.errors, ran.intervals) == (9, "no room", [])
    assert here.was_cut


def test_a_destination_that_was_never_ready() -> None:
    here = Here(RAN)
    ran = outcome(TWO, here, There((9, "", "no port"), None))
    assert (ran.status, ran.errors) == (9, "no port")
    assert not here.argv


def test_an_agent_that_goes_away_ends_the_source() -> None:
    here = Here(None)
    with pytest.raises(PeerGone):
        outcome(TWO, here, There(PeerGone("gone"), 1))
    assert here.was_cut


@pytest.mark.parametrize(
    "sides", [(), ("destination",), ("source", "destination"), ("source",) * 2]
)
def test_other_steps_are_a_sentence(sides: tuple[Side, ...]) -> None:
    with pytest.raises(ValueError, match="stand-in cannot be profiled: its plugin must"):
        outcome(Tool(*sides), Here(RAN), There(None, 1))
