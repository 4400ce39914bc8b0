"""What an agent runs of a transfer: its own plugin's step, and nothing that an advisor could name.

The plugin is a stand-in, since what real ones do is for their own tests; the programs run.
"""

import asyncio
import contextlib
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import psutil
import pytest

from advisor import registry
from advisor.agent import messages as m
from advisor.agent import steps
from advisor.agent.client import AgentLink
from advisor.agent.files import ANYWHERE, NOWHERE, FileRights
from advisor.agent.peer_errors import Refusal
from advisor.api.tool import Piece, Step, ToolTraits, TransferOrder
from advisor.domain.availability import AVAILABLE, Availability
from advisor.domain.file_io import SCRATCH_PREFIX
from advisor.testing.samples import a_path
from tests.scratch import marked

from .linked import linked

T = TypeVar("T")
Ask = Callable[[AgentLink], Awaitable[T]]
FOR_EVER = "import time; time.sleep(1000)"
SAYS_READY = "import sys; print('well, now!', file=sys.stderr, flush=True); "


class StandIn:
    """A tool whose step at the destination is a Python program, and one at the source besides."""

    name = "stand-in"

    def __init__(self, program: str, ready: str = "") -> None:
        self._program = program
        self._ready = ready
        self.orders: list[TransferOrder] = []
        self.list_text: str | None = None
        self.availability = AVAILABLE
        self.trouble: Exception | None = None

    def available(self) -> Availability:
        return self.availability

    def steps(self, order: TransferOrder) -> list[Step]:
        if self.trouble:
            raise self.trouble
        self.orders.append(order)
        argv = [sys.executable, "-c", self._program, order.list_file]
        step = Step(side="destination", argv=argv, ready=self._ready, list_text=self.list_text)
        return [step, Step(side="source", argv=["/none"])]


@pytest.fixture
def has_tool(monkeypatch: pytest.MonkeyPatch) -> Callable[[StandIn], StandIn]:
    """Let the agent have this one, under every name."""

    def have(tool: StandIn) -> StandIn:
        monkeypatch.setattr(registry, "transfer_tool", lambda _: tool)
        return tool

    return have


Has = Callable[[StandIn], StandIn]


def asked(ask: Ask[T], rights: FileRights = ANYWHERE, ports: tuple[int, int] = (0, 0)) -> T:
    async def run() -> T:
        async with asyncio.timeout(60), linked(rights, ports) as link:
            return await ask(link)

    return asyncio.run(run())


def a_target(folder: Path, name: str = "000000") -> str:
    return str(marked(folder / f"{SCRATCH_PREFIX}1") / name)


def an_order(*targets: str, **changes: Any) -> TransferOrder:
    order = TransferOrder(
        setting={"streams": 4},
        pieces=tuple(Piece(source="/a", target=target, size_bytes=10) for target in targets),
        path=a_path(),
        destination_host="dtn2",
        list_file="/etc/passwd",
        base_port=22,
    )
    return msgspec.structs.replace(order, **changes)


async def run_to_its_end(link: AgentLink, order: TransferOrder) -> tuple[int | None, int, str, str]:
    """The base port, the status and what was printed."""
    async with link.step("stand-in", order) as there:
        return there.base_port, *await there.ended()


def programs() -> list[psutil.Process]:
    """What runs of ours that is a step."""
    found = []
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if FOR_EVER in " ".join(child.cmdline()):
                found.append(child)
    return found


@pytest.mark.parametrize("ready", ["", "well, now"])
def test_a_step_that_ends_by_itself(tmp_path: Path, has_tool: Has, ready: str) -> None:
    has_tool(StandIn(SAYS_READY + "print('moved'); sys.exit(3)", ready))

    async def ask(link: AgentLink) -> None:
        base_port, *ended = await run_to_its_end(link, an_order(a_target(tmp_path)))
        assert base_port
        assert ended == [3, "moved\n", "well, now!\n"]
        assert await link.sizes([str(tmp_path)]) == [None], "the conversation continues"

    asked(ask)


def test_a_step_that_ends_before_it_is_ready(tmp_path: Path, has_tool: Has) -> None:
    has_tool(StandIn("raise SystemExit('no such disk')", "well, now"))
    ended = asked(lambda link: run_to_its_end(link, an_order(a_target(tmp_path))))
    assert ended == (None, 1, "", "no such disk\n")


def test_a_program_that_is_not_there(tmp_path: Path, has_tool: Has) -> None:
    tool = has_tool(StandIn(""))
    tool.steps = lambda _: [Step(side="destination", argv=["/none"])]  # type: ignore[method-assign]
    _, status, _, _ = asked(lambda link: run_to_its_end(link, an_order(a_target(tmp_path))))
    assert status == 127


def test_a_step_that_is_never_ready(
    tmp_path: Path, has_tool: Has, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "_READY_S", 0.3)
    has_tool(StandIn(FOR_EVER, "well, now"))

    async def ask(link: AgentLink) -> None:
        with pytest.raises(Refusal, match="stand-in did not listen at the destination"):
            await run_to_its_end(link, an_order(a_target(tmp_path)))
        assert not programs()

    asked(ask)


def test_a_step_that_is_left_early_has_ended(tmp_path: Path, has_tool: Has) -> None:
    has_tool(StandIn(SAYS_READY + FOR_EVER, "well, now"))

    async def ask(link: AgentLink) -> None:
        async with link.step("stand-in", an_order(a_target(tmp_path))) as there:
            assert there.base_port
            assert programs()
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await there.ended()
        assert not programs()
        assert await link.sizes([str(tmp_path)]) == [None]

    asked(ask)


def test_who_is_cancelled_while_it_gets_ready_leaves_nothing(tmp_path: Path, has_tool: Has) -> None:
    has_tool(StandIn(FOR_EVER, "well, now"))

    async def ask(link: AgentLink) -> None:
        asking = asyncio.create_task(run_to_its_end(link, an_order(a_target(tmp_path))))
        while not programs():
            await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert not programs()
        assert await link.sizes([str(tmp_path)]) == [None]

    asked(ask)


def test_a_step_ends_with_the_connection(tmp_path: Path, has_tool: Has) -> None:
    has_tool(StandIn(SAYS_READY + FOR_EVER, "well, now"))

    async def ask() -> None:
        async with linked() as link:
            leaving = contextlib.AsyncExitStack()
            await leaving.enter_async_context(link.step("stand-in", an_order(a_target(tmp_path))))
            assert programs()
            await link.close()
            assert not programs()
            await leaving.aclose()

    asyncio.run(ask())


def test_of_what_it_prints_the_end_is_reported(tmp_path: Path, has_tool: Has) -> None:
    long = "import sys; sys.{0}.write('\\x01' * 200_000 + 'the end'); "
    has_tool(StandIn(long.format("stdout") + long.format("stderr")))
    _, status, output, errors = asked(
        lambda link: run_to_its_end(link, an_order(a_target(tmp_path)))
    )
    assert status == 0
    for text in (output, errors):
        assert len(text) == m.STEP_OUTPUT_LIMIT
        assert text.endswith("the end")


def test_the_agent_chooses_ports_and_list_file(tmp_path: Path, has_tool: Has) -> None:
    tool = has_tool(StandIn("import sys; print(open(sys.argv[1]).read())"))
    tool.list_text = "a list"
    base_port, status, output, _ = asked(
        lambda link: run_to_its_end(link, an_order(a_target(tmp_path))), ports=(19100, 19120)
    )
    assert (status, output) == (0, "a list\n")
    [order] = tool.orders
    assert order.base_port == base_port
    assert 19100 <= order.base_port <= 19120 - 3
    assert order.list_file != "/etc/passwd"
    assert not Path(order.list_file).exists()


def test_a_range_without_room_is_a_sentence(tmp_path: Path, has_tool: Has) -> None:
    tool = has_tool(StandIn(FOR_EVER))
    with pytest.raises(Refusal, match="of the ports 19150 to 19152, no 4 in a row are free"):
        asked(lambda link: run_to_its_end(link, an_order(a_target(tmp_path))), ports=(19150, 19152))
    assert not tool.orders


def is_refused(
    words: str, targets: Sequence[str], rights: FileRights = ANYWHERE, **changes: Any
) -> None:
    async def ask(link: AgentLink) -> None:
        with pytest.raises(Refusal, match=words):
            await run_to_its_end(link, an_order(*targets, **changes))
        assert not programs()

    asked(ask, rights)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("{tmp}/file", "not in one of the advisor's own folders"),
        ("{tmp}/.advisor-file", "not in one of the advisor's own folders"),
        ("{tmp}/.advisor-1/../file", "not in one of the advisor's own folders"),
        ("{tmp}/.advisor-1/way/file", "not in one of the advisor's own folders"),
        ("{tmp}/.advisor-1/..", "does not name a file"),
        ("{tmp}/.advisor-1/link", "not a regular file"),
        ("{tmp}/.advisor-1/folder", "not a regular file"),
    ],
)
def test_nothing_but_files_of_a_scratch_folder_are_written(
    tmp_path: Path, has_tool: Has, target: str, words: str
) -> None:
    tool = has_tool(StandIn(FOR_EVER))
    good = a_target(tmp_path)
    own = Path(good).parent
    (own / "way").symlink_to(tmp_path)
    (own / "link").symlink_to(tmp_path / "elsewhere")
    (own / "folder").mkdir()
    is_refused(words, [good, target.format(tmp=tmp_path)])
    assert not tool.orders


def test_only_where_the_agent_was_given_files(tmp_path: Path, has_tool: Has) -> None:
    tool = has_tool(StandIn(FOR_EVER))
    is_refused("start it with --files FOLDER", [a_target(tmp_path)], NOWHERE)
    (tmp_path / "given").mkdir()
    given = FileRights([tmp_path / "given"])
    is_refused("in none of the folders given to the agent", [a_target(tmp_path)], given)
    assert not tool.orders


def test_tools_that_are_not_there(tmp_path: Path, has_tool: Has) -> None:
    async def ask(link: AgentLink) -> None:
        for name, words in (("sh", "there is none called 'sh'"), ("bbcp", "cannot be profiled")):
            with pytest.raises(Refusal, match=words):
                async with link.step(name, an_order(a_target(tmp_path))):
                    pass

    asked(ask)
    tool = has_tool(StandIn(FOR_EVER))
    tool.availability = Availability(reason="it is not installed", remedy="buy it")
    is_refused("at the destination, it is not installed: buy it", [a_target(tmp_path)])


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        (ValueError("too long: shorten it"), "stand-in cannot move this: too long: shorten it"),
        (KeyError("streams"), "stand-in cannot move this: 'streams'"),
    ],
)
def test_what_the_plugin_refuses(
    tmp_path: Path, has_tool: Has, trouble: Exception, words: str
) -> None:
    has_tool(StandIn(FOR_EVER)).trouble = trouble
    is_refused(words, [a_target(tmp_path)])


@pytest.mark.parametrize("streams", [0, -1, 1025, "many", 1e300])
def test_flows_without_measure(tmp_path: Path, has_tool: Has, streams: int | float | str) -> None:
    has_tool(StandIn(FOR_EVER))
    is_refused("1 to 1024 flows", [a_target(tmp_path)], setting={"streams": streams})


def test_a_plugin_without_a_step_at_the_destination(tmp_path: Path, has_tool: Has) -> None:
    tool = has_tool(StandIn(FOR_EVER))
    tool.steps = lambda _: [Step(side="source", argv=["/none"])]  # type: ignore[method-assign]
    is_refused("0 steps at the destination", [a_target(tmp_path)])


@pytest.mark.parametrize("changes", [{}, {"destination_host": "a b"}, {"setting": {"x y": 1}}])
def test_what_no_message_may_have_is_refused_here(
    tmp_path: Path, has_tool: Has, changes: dict[str, Any]
) -> None:
    tool = has_tool(StandIn(FOR_EVER))
    target = a_target(tmp_path)
    too_many = [target] * (m.PIECES_LIMIT + 1)
    is_refused("at most 16 files", [target] if changes else too_many, **changes)
    is_refused("at most 16 files", ["/" + "\x01" * 4000] * 4)
    is_refused("at most 16 files", ["/\udcff"])
    assert not tool.orders


@pytest.mark.parametrize("in_memory", [True, False])
def test_only_a_tool_that_says_so_drops_what_arrives(
    has_tool: Has, monkeypatch: pytest.MonkeyPatch, in_memory: bool
) -> None:
    tool = has_tool(StandIn(SAYS_READY, "well, now"))
    traits = ToolTraits(memory_to_memory=in_memory)
    monkeypatch.setattr(steps, "tool_traits", lambda _: traits)

    async def run(link: AgentLink) -> None:
        await run_to_its_end(link, an_order("/dev/null"))

    if in_memory:
        asked(run)
        assert [order.pieces[0].target for order in tool.orders] == ["/dev/null"]
    else:
        with pytest.raises(Refusal, match="own folders"):
            asked(run)
        assert not tool.orders
