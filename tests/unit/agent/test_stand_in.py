"""What stands in for an agent: a tool's own commands, and nothing else."""

import asyncio
import shlex
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from advisor.agent import messages as m
from advisor.agent.client import AgentLink
from advisor.agent.connect import reach_without_agent
from advisor.agent.peer_errors import Refusal
from advisor.agent.stand_in import NO_AGENT
from advisor.api.server_files import ServerCommands
from advisor.api.tool import ToolTrouble
from advisor.domain.measurement import FailureKind

_LISTS = """
import os, sys
for above, _, names in os.walk(sys.argv[1]):
    for name in names:
        path = os.path.join(above, name)
        print(os.path.getsize(path), os.path.relpath(path, sys.argv[1]))
"""


class FoldersHere:
    """A tool whose server is this host's own file system."""

    name = "folders"

    def __init__(self) -> None:
        self.has_folders = True
        self.says: Callable[[str], str] = lambda text: text
        self.asked = 0

    def server_address(self) -> tuple[str, int]:
        return "127.0.0.1", 9

    def server_commands(self, folder: str) -> ServerCommands:
        self.asked += 1
        is_there = f"test -d {shlex.quote(folder)} || exit 3; "
        lists = shlex.join([sys.executable, "-c", _LISTS, folder])
        return ServerCommands(
            look=["sh", "-c", is_there] if self.has_folders else [],
            sizes=["sh", "-c", is_there + lists],
            remove=["sh", "-c", is_there + f"rm -r {shlex.quote(folder)}"],
            absent_status=3,
        )

    def sizes_in(self, folder: str, text: str) -> Mapping[str, int]:
        pairs = (line.partition(" ") for line in self.says(text).splitlines())
        return {name: int(size) for size, _, name in pairs}

    def trouble(self, status: int, _output: str, errors: str) -> ToolTrouble:
        return ToolTrouble(FailureKind.NO_ACCESS, f"status {status}: {errors.strip()}.")


@pytest.fixture
def tool() -> FoldersHere:
    return FoldersHere()


@pytest_asyncio.fixture
async def link(tool: Any) -> AsyncIterator[AgentLink]:
    reached = await reach_without_agent(tool, "nowhere.invalid")
    assert reached.stand_in
    assert reached.address == "127.0.0.1"
    yield reached.link
    await reached.link.close()


@pytest.mark.asyncio
async def test_a_scratch_folder_from_its_name_to_its_end(link: AgentLink, tmp_path: Path) -> None:
    scratch = await link.make_scratch(str(tmp_path / "not" / "yet"))
    assert Path(scratch).parent == tmp_path, "the nearest that is there"
    assert not list(tmp_path.iterdir()), "the tool makes it"
    (Path(scratch) / "below").mkdir(parents=True)
    (Path(scratch) / "a").write_bytes(b"x" * 7)
    (Path(scratch) / "below" / "b c").write_bytes(b"")
    names = ["a", "below/b c", "gone"]
    assert await link.sizes([f"{scratch}/{name}" for name in names]) == [7, 0, None]
    (Path(scratch) / "gone").write_bytes(b"xx")
    await asyncio.sleep(0.2)
    assert await link.sizes([f"{scratch}/gone"]) == [2], "it looks again"
    await link.remove(scratch)
    assert not list(tmp_path.iterdir())


@pytest.mark.asyncio
async def test_what_never_came_to_be_is_empty_and_removed(link: AgentLink, tmp_path: Path) -> None:
    scratch = await link.make_scratch(str(tmp_path))
    assert await link.sizes([f"{scratch}/a"]) == [None]
    await link.remove(scratch)


@pytest.mark.asyncio
async def test_where_folders_need_not_exist(
    link: AgentLink, tool: FoldersHere, tmp_path: Path
) -> None:
    tool.has_folders = False
    scratch = await link.make_scratch(str(tmp_path / "not" / "yet"))
    assert Path(scratch).parent == tmp_path / "not" / "yet"


@pytest.mark.asyncio
async def test_the_nearest_folder_is_looked_for_once(
    link: AgentLink, tool: FoldersHere, tmp_path: Path
) -> None:
    first = await link.make_scratch(str(tmp_path))
    asked = tool.asked
    assert await link.make_scratch(str(tmp_path)) != first
    assert tool.asked == asked


@pytest.mark.asyncio
async def test_it_removes_only_what_it_has_named(link: AgentLink, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / ".advisor-0", Path("/")):
        with pytest.raises(Refusal, match="no folder of this session"):
            await link.remove(str(path))
    with pytest.raises(Refusal, match="no agent runs at the destination"):
        await link.sizes([f"{tmp_path}/a"])


@pytest.mark.asyncio
async def test_what_takes_an_agent_is_refused(link: AgentLink, tmp_path: Path) -> None:
    facts = await link.facts("127.0.0.1")
    assert not facts.facts.is_known
    assert facts.transports == []
    with pytest.raises(Refusal, match=NO_AGENT):
        await link.open_echo("127.0.0.1", "0" * 32)
    with pytest.raises(Refusal, match=NO_AGENT):
        await link.folder(str(tmp_path))
    with pytest.raises(Refusal, match=NO_AGENT):
        await link.checksums([str(tmp_path)])
    with pytest.raises(Refusal, match=NO_AGENT):
        await link.move([(f"{tmp_path}/a", f"{tmp_path}/b")])
    probe = m.OpenProbe(
        transport="tcp",
        setting={"streams": 1},
        source_address="127.0.0.1",
        token="0" * 32,
        ceiling_s=1.0,
        sample_every_s=0.1,
    )
    async with link.probe(probe) as replies:
        assert [reply async for reply in replies] == [m.Refused(message=NO_AGENT)]


@pytest.mark.asyncio
@pytest.mark.parametrize("listing", ["no list", "x a\n", "1 a\n" * 10**7], ids=len)
async def test_a_server_that_lists_nonsense(
    link: AgentLink, tool: FoldersHere, tmp_path: Path, listing: str
) -> None:
    scratch = await link.make_scratch(str(tmp_path))
    Path(scratch).mkdir()
    if len(listing) < 100:
        tool.says = lambda _: listing
    else:
        (Path(scratch) / ("x" * 200)).write_bytes(b"")
        commands = tool.server_commands
        forever = ["sh", "-c", "yes 0123456789"]
        tool.server_commands = lambda folder: ServerCommands(  # type: ignore[method-assign]  # an attack
            look=[], sizes=forever, remove=commands(folder).remove, absent_status=3
        )
    with pytest.raises(Refusal):
        await link.sizes([f"{scratch}/a"])
    assert await link.make_scratch(str(tmp_path)), "the conversation continues"


@pytest.mark.asyncio
async def test_a_command_that_fails_says_why(
    link: AgentLink, tool: FoldersHere, tmp_path: Path
) -> None:
    scratch = await link.make_scratch(str(tmp_path))
    failing = ["sh", "-c", "echo the server is full >&2; exit 5"]
    tool.server_commands = lambda _: ServerCommands(  # type: ignore[method-assign]  # a failure
        look=failing, sizes=failing, remove=failing, absent_status=3
    )
    with pytest.raises(Refusal, match="status 5: the server is full"):
        await link.sizes([f"{scratch}/a"])
    with pytest.raises(Refusal, match="status 5: the server is full"):
        await link.make_scratch(str(tmp_path / "other"))


@pytest.mark.asyncio
async def test_what_a_session_leaves_is_removed_with_it(tool: Any, tmp_path: Path) -> None:
    reached = await reach_without_agent(tool, "nowhere.invalid")
    scratch = Path(await reached.link.make_scratch(str(tmp_path)))
    scratch.mkdir()
    (scratch / "a").write_bytes(b"x")
    await reached.link.close()
    assert not scratch.exists()
