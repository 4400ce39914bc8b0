"""xdd as a tool that is profiled: its space, and its steps, run for real where xdd is there."""

import asyncio
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from advisor import registry
from advisor.api.tool import (
    NOWHERE,
    ZEROS,
    CommandRequest,
    OutputReader,
    Piece,
    Step,
    ToolLimits,
    TransferOrder,
)
from advisor.domain.dataset import Dataset
from advisor.domain.space import Setting
from advisor.hosts.free_ports import free_run
from advisor.hosts.processes import Child, running
from advisor.methods.api import Knowledge
from advisor.testing.samples import a_path, measured
from advisor.testing.tools import TransferToolContract

PLUGIN = registry.transfer_tool("xdd")
SETTING: Setting = {"streams": 4, "request_bytes": 2**20, "direct": 0}
PIECE = Piece(source="/data/f", target="/store/f", size_bytes=10**9)
RUN_S = 30.0

with_xdd = pytest.mark.skipif(
    shutil.which("xdd") is None, reason="xdd is absent: build it from https://github.com/bws/xdd"
)


class TestContract(TransferToolContract):
    plugin = PLUGIN

    def _orders(self) -> Iterator[TransferOrder]:
        """Those of a single file, for xdd moves no more; see below for what it says of others."""
        for order in super()._orders():
            yield msgspec.structs.replace(order, pieces=order.pieces[:1])


def an_order(**changes: Any) -> TransferOrder:
    given: dict[str, Any] = {
        "setting": SETTING,
        "pieces": (PIECE,),
        "path": a_path(),
        "destination_host": "dtn2",
        "list_file": "/tmp/files",
        "base_port": 50100,
    }
    return TransferOrder(**(given | changes))


def a_file_of(size_bytes: int) -> Dataset:
    return Dataset(
        total_bytes=size_bytes, path="/data/f", files=1, largest="", largest_bytes=size_bytes
    )


def flows_up_to(dataset: Dataset, **limits: int) -> int:
    space = PLUGIN.space(a_path(), dataset, ToolLimits(**limits))
    return next((p.upper for p in space.parameters if p.name == "streams"), 1)


@pytest.mark.parametrize(
    ("size_bytes", "limits", "flows"),
    [
        (10**12, {}, 16),
        (10**12, {"max_concurrency": 1, "max_streams": 4}, 4),
        (10**12, {"max_concurrency": 16, "max_streams": 32}, 32),
        (10**12, {"max_concurrency": 16, "max_streams": 200}, 124),
        (20 * 2**20, {}, 5),
        (1, {}, 1),
    ],
)
def test_flows_are_bounded_by_what_is_allowed_and_by_requests(
    size_bytes: int, limits: dict[str, int], flows: int
) -> None:
    assert flows_up_to(a_file_of(size_bytes), **limits) == flows


def test_flows_and_requests_are_searched_and_direct_io_not_where_a_disk_lacks_it() -> None:
    space = PLUGIN.space(a_path(), a_file_of(10**12), ToolLimits())
    requests = next(p for p in space.parameters if p.name == "request_bytes")
    assert [requests.value_at(step / 3) for step in range(4)] == [2**20 << n for n in range(4)]
    assert space.fixed == {"direct": 0}
    assert space.cost_order == ("streams", "request_bytes")


def test_direct_io_is_a_choice_where_both_disks_support_it() -> None:
    space = PLUGIN.space(a_path(), a_file_of(10**12), ToolLimits(direct_io=True))
    assert [p.name for p in space.parameters] == ["streams", "request_bytes", "direct"]
    assert space.parameters[2].is_choice
    assert not space.fixed
    alone = PLUGIN.space(a_path(), a_file_of(1), ToolLimits(direct_io=True))
    assert alone.fixed == {"streams": 1}


def advised_lines(method: str, direct_wins: bool) -> list[list[str]]:
    """The lines after a search on a surface in which one mode is a third faster."""
    space = PLUGIN.space(a_path(), a_file_of(10**12), ToolLimits(direct_io=True))
    noise = np.random.default_rng(5)
    search = registry.method(method).create(space, np.random.default_rng(1), Knowledge(), {})
    for _ in range(60):
        if (setting := search.ask()) is None:
            break
        # More flows than 6 slow buffered writing down (Rao et al. 2016, section IV).
        flows = min(1.0, int(setting["streams"]) / 6)
        mode = 1.0 if bool(setting["direct"]) == direct_wins else 0.75
        search.tell(setting, measured(2e9 * flows * mode * noise.lognormal(0, 0.05)))
    found = search.recommended()
    assert found is not None
    request = CommandRequest(
        subject="xdd",
        settings={"xdd": found[0]},
        labels={},
        path=a_path(),
        destination_host="dtn2",
        dataset=a_file_of(10**12),
        source_path="/data/f",
        destination_path="/store/f",
    )
    return [list(command.argv) for command in PLUGIN.commands(request)]


@pytest.mark.parametrize("method", ["bayes", "depth-width", "compass"])
@pytest.mark.parametrize("direct_wins", [True, False])
def test_direct_io_is_advised_where_it_wins(method: str, direct_wins: bool) -> None:
    lines = advised_lines(method, direct_wins)
    assert [("-dio" in argv) for argv in lines] == [direct_wins] * 2


def test_the_destination_is_first_and_says_when_it_listens() -> None:
    destination, source = PLUGIN.steps(an_order())
    assert (destination.side, source.side) == ("destination", "source")
    assert destination.ready in "----------All targets should start now----------"
    assert destination.ready
    assert not source.ready


def test_the_source_is_the_process_whose_sockets_are_looked_at() -> None:
    destination, source = PLUGIN.steps(an_order())
    assert destination.argv[0] == "timeout"
    assert source.argv[0] == "xdd"


def test_both_steps_have_the_same_ports_flows_and_requests() -> None:
    for step in PLUGIN.steps(an_order()):
        assert "192.0.2.2:50100,4" in step.argv
        assert step.argv[step.argv.index("-reqsize") + 1] == str(2**20)
        assert step.argv[step.argv.index("-bytes") + 1] == str(10**9)


@pytest.mark.parametrize("direct", [0, 1])
def test_direct_io_is_on_both_steps_or_on_none(direct: int) -> None:
    steps = PLUGIN.steps(an_order(setting=SETTING | {"direct": direct}))
    assert [("-dio" in step.argv) for step in steps] == [bool(direct)] * 2


def test_a_step_is_the_line_that_is_printed() -> None:
    """What is advised is what was measured, but for the ports and the source's time limit."""
    request = CommandRequest(
        subject="xdd",
        settings={"xdd": SETTING},
        path=a_path(),
        destination_host="dtn2",
        dataset=a_file_of(10**9),
        destination_path="/store/f",
    )
    printed = PLUGIN.commands(request)
    assert printed
    steps = PLUGIN.steps(an_order(base_port=40010))
    assert [step.argv[step.argv.index("xdd") :] for step in steps] == [
        command.argv[command.argv.index("xdd") :] for command in printed
    ]


IN_MEMORY = Piece(source=ZEROS, target=NOWHERE, size_bytes=10**8, is_whole=False)


def test_from_memory_to_memory_neither_side_opens_a_file() -> None:
    for step in PLUGIN.steps(an_order(pieces=(IN_MEMORY,))):
        assert "-target" not in step.argv
        where = step.argv.index("-targets")
        assert step.argv[where : where + 3] == ["-targets", "1", "null"]


@with_xdd
@pytest.mark.asyncio
async def test_bytes_move_from_memory_to_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    order = an_order(
        pieces=(IN_MEMORY,),
        setting=SETTING | {"direct": 1},
        path=a_path(destination_address="127.0.0.1"),
        base_port=free_run(4, (0, 0), socket.AF_INET),
    )
    statuses, moved_bytes = await carry_out(PLUGIN.steps(order), PLUGIN.reader())
    assert statuses == [0, 0]
    assert moved_bytes == IN_MEMORY.size_bytes
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"pieces": (PIECE, PIECE)}, "one file at a time"),
        ({"pieces": (msgspec.structs.replace(PIECE, size_bytes=0),)}, "empty"),
        ({"pieces": (msgspec.structs.replace(PIECE, source="/" + "d/" * 1100),)}, "2047 bytes"),
        (
            {"path": a_path(destination_address="2001:db8::2"), "destination_host": "2001:db8::2"},
            "IPv4 only",
        ),
    ],
)
def test_what_it_cannot_move_is_refused_with_a_reason(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        PLUGIN.steps(an_order(**changes))


def test_names_are_carried_unless_they_are_too_long() -> None:
    assert PLUGIN.carries("é/it's\n\udcff") == ""
    assert "2047" in PLUGIN.carries("é" * 1024)


async def said(child: Child, words: str) -> None:
    while words.encode() not in child.stderr:
        await asyncio.sleep(0.05)


async def carry_out(steps: list[Step], reader: OutputReader) -> tuple[list[int], int | None]:
    """The two steps in order: their exit statuses, and what the source says it moved."""
    destination, source = steps
    moved_bytes = None
    async with asyncio.timeout(RUN_S), running(destination.argv) as receiving:
        await said(receiving, destination.ready)
        async with running(source.argv) as sending:
            for line in (await sending.stdout.read()).decode().split("\n"):
                progress = reader.feed(line)
                moved_bytes = progress.moved_bytes if progress else moved_bytes
            return [await receiving.wait(), await sending.wait()], moved_bytes


@with_xdd
@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("offset_bytes", "size_bytes", "changes"),
    [
        (0, 30 * 2**20 + 1, {}),
        (0, 30 * 2**20 + 1, {"direct": 1, "request_bytes": 4 * 2**20}),
        (8 * 2**20, 16 * 2**20, {}),
        (0, 1000, {"streams": 1, "request_bytes": 128 * 1024}),
    ],
)
async def test_a_file_arrives(
    tmp_path: Path, offset_bytes: int, size_bytes: int, changes: Setting
) -> None:
    content = bytes(range(251)) * (31 * 2**20 // 251)
    source, target = tmp_path / "it's\na §", tmp_path / "%s there"
    source.write_bytes(content)
    # What is before the range is there already, and has to stay.
    target.write_bytes(content[:offset_bytes])
    piece = Piece(
        source=str(source),
        target=str(target),
        size_bytes=size_bytes,
        offset_bytes=offset_bytes,
        is_whole=False,
    )
    order = an_order(
        setting=SETTING | changes,
        pieces=(piece,),
        path=a_path(destination_address="127.0.0.1"),
        base_port=free_run(4, (0, 0), socket.AF_INET),
    )
    statuses, moved_bytes = await carry_out(PLUGIN.steps(order), PLUGIN.reader())
    assert statuses == [0, 0]
    assert moved_bytes == size_bytes
    assert target.read_bytes() == content[: offset_bytes + size_bytes]


@with_xdd
@pytest.mark.asyncio
async def test_a_destination_that_cannot_write_says_so(tmp_path: Path) -> None:
    piece = Piece(source="/data/f", target=str(tmp_path / "no" / "f"), size_bytes=10**6)
    order = an_order(pieces=(piece,), path=a_path(destination_address="127.0.0.1"))
    destination, _ = PLUGIN.steps(order)
    async with asyncio.timeout(RUN_S), running(destination.argv) as child:
        status = await child.wait()
        await said(child, "Could not start plan")
        trouble = PLUGIN.trouble(status, "", child.stderr.decode())
    assert trouble is not None
    assert "create the folder" in trouble.message
