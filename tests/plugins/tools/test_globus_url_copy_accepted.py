"""Every line that can be written is taken by the real client, and the files come out the same."""

import asyncio
import itertools
import os
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from advisor.api.tool import CommandRequest, Kept, Piece, TransferOrder
from advisor.domain.dataset import Dataset
from advisor.domain.space import Setting
from advisor.testing.gridftp import GridFTPServer, anonymous_server
from advisor.testing.samples import a_path
from tests.plugins.tools.gridftp_lines import (
    PLUGIN,
    a_directory,
    a_request,
    contents,
    require,
    run,
    run_as_printed,
    the_line,
)

OWN: tuple[Setting, ...] = tuple(
    {"concurrency": at_once, "parallelism": streams} | mark
    for at_once in (1, 3)
    for streams in (1, 3)
    for mark in ({}, {"pipelining": 1}, {"pipelining": 0})
)
FROM_MEMORY: tuple[Setting, ...] = tuple(
    {"streams": streams, "buffer_bytes": buffer_bytes, "congestion": "cubic"}
    for streams in (1, 4)
    for buffer_bytes in (0, 2**18)
)
AS_TYPED: Setting = {"concurrency": 1, "parallelism": 1, "options": "none"}
SETTINGS = [{PLUGIN.name: own} for own in (*OWN, AS_TYPED)] + [{"tcp": tcp} for tcp in FROM_MEMORY]
VERIFY = (False, True)
FILE_BYTES = 3 * 2**20 + 17
FIRST_BYTES = 2**20 + 5


@pytest.fixture(autouse=True)
def programs() -> None:
    require("globus-gridftp-server", "globus-url-copy")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "one file"
    path.write_bytes(os.urandom(FILE_BYTES))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "a folder"
    (path / "deep er").mkdir(parents=True)
    for number in range(5):
        (path / "deep er" / f"{number}").write_bytes(os.urandom(2000 + number))
    (path / "top").write_bytes(os.urandom(200_000))
    (path / "empty").write_bytes(b"")
    return path


def on_a_server(scenario: Callable[[GridFTPServer], Awaitable[None]]) -> None:
    async def start() -> None:
        async with anonymous_server() as server:
            await scenario(server)

    asyncio.run(start())


def left_there(path: Path, data: bytes) -> None:
    """As the server would have left it: it may write there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.parent.chmod(0o777)
    path.write_bytes(data)
    path.chmod(0o666)


def a_dataset_at(path: Path) -> Dataset:
    sizes = [len(data) for data in contents(path).values()]
    return Dataset(
        total_bytes=sum(sizes),
        path=str(path),
        files=len(sizes),
        largest="top",
        largest_bytes=200_000,
    )


# --- printed lines ---


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_file(file: Path, settings: dict[str, Setting]) -> None:
    data = file.read_bytes()

    async def scenario(server: GridFTPServer) -> None:
        for number, (verify, kept) in enumerate(
            itertools.product(VERIFY, (None, Kept(files=1), Kept(first_bytes=FIRST_BYTES)))
        ):
            target = server.folder / f"{number}" / "copy"
            left_there(target, data[: kept.first_bytes] if kept else b"")
            request = a_request(
                settings=settings,
                source_path=str(file),
                destination_path=str(target),
                server_url=server.url,
                verify=verify,
                kept=kept,
            )
            line = the_line(request).shell
            await run_as_printed(server, line)
            assert target.read_bytes() == data, line

    on_a_server(scenario)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_folder(folder: Path, settings: dict[str, Setting]) -> None:
    files = contents(folder)

    async def scenario(server: GridFTPServer) -> None:
        for verify, kept in itertools.product(VERIFY, (None, Kept(files=1))):
            target = server.folder / f"{verify} {kept}"
            if kept:
                left_there(target / "top", files["top"])
            request = a_request(
                settings=settings,
                source_path=str(folder),
                destination_path=str(target),
                dataset=a_dataset_at(folder),
                server_url=server.url,
                verify=verify,
                kept=kept,
            )
            line = the_line(request).shell
            await run_as_printed(server, line)
            assert contents(target) == files, line

    on_a_server(scenario)


# --- measured lines ---


def ranges_of(file: Path, target: Path) -> Iterator[Piece]:
    for offset in range(0, FILE_BYTES, 2**20):
        yield Piece(
            source=str(file),
            target=str(target),
            size_bytes=min(2**20, FILE_BYTES - offset),
            offset_bytes=offset,
            is_whole=False,
        )


def whole_files(folder: Path, target: Path) -> Iterator[Piece]:
    for name, data in contents(folder).items():
        yield Piece(source=str(folder / name), target=str(target / name), size_bytes=len(data))


async def move(
    server: GridFTPServer, tmp_path: Path, pieces: Iterator[Piece], **changes: Any
) -> str:
    """Carry an order out; what was printed. Fails when it fails."""
    list_file = tmp_path / "the list"
    order = TransferOrder(
        pieces=tuple(pieces),
        path=a_path(),
        destination_host="127.0.0.1",
        list_file=str(list_file),
        server_url=server.url,
        **changes,
    )
    (step,) = PLUGIN.steps(order)
    assert step.list_text is not None
    list_file.write_text(step.list_text, encoding="utf-8")
    status, output, errors = await run(server, step.argv)
    assert status == 0, f"{step.argv}: {errors}"
    return output


@pytest.mark.parametrize("setting", OWN, ids=str)
def test_lists(folder: Path, file: Path, tmp_path: Path, setting: Setting) -> None:
    files = contents(folder)

    async def scenario(server: GridFTPServer) -> None:
        for verify in VERIFY:
            target = server.folder / f"{verify}"
            output = await move(
                server, tmp_path, whole_files(folder, target), setting=setting, verify=verify
            )
            assert contents(target) == files
            assert begun(output) == len(files)
            copy = server.folder / f"{verify} ranges"
            await move(server, tmp_path, ranges_of(file, copy), setting=setting, verify=verify)
            assert copy.read_bytes() == file.read_bytes()

    on_a_server(scenario)


@pytest.mark.parametrize("setting", OWN, ids=str)
def test_whole_files_after_ranges_are_whole(file: Path, tmp_path: Path, setting: Setting) -> None:
    """The client would keep a range's length for what comes after it, and report success."""

    def pieces(folder: Path) -> Iterator[Piece]:
        for number in range(12):
            yield from itertools.islice(ranges_of(file, folder / f"range {number}"), 1)
            target = str(folder / f"whole {number}")
            yield Piece(source=str(file), target=target, size_bytes=FILE_BYTES)

    async def scenario(server: GridFTPServer) -> None:
        await move(server, tmp_path, pieces(server.folder), setting=setting)
        for number in range(12):
            assert (server.folder / f"whole {number}").read_bytes() == file.read_bytes()

    on_a_server(scenario)


def begun(output: str) -> int:
    """How many files were, by the reader."""
    reader = PLUGIN.reader()
    read = [progress for line in output.split("\n") if (progress := reader.feed(line))]
    return read[-1].files_begun or 0


def test_a_range_lands_at_its_offset(file: Path, tmp_path: Path) -> None:
    async def scenario(server: GridFTPServer) -> None:
        *_, last = ranges_of(file, server.folder / "copy")
        await move(server, tmp_path, iter([last]), setting=OWN[0])
        copy = (server.folder / "copy").read_bytes()
        assert copy == bytes(last.offset_bytes) + file.read_bytes()[last.offset_bytes :]

    on_a_server(scenario)


# --- what the notes say of the lines ---


async def over(server: GridFTPServer, request: CommandRequest, there: bytes) -> bytes:
    """What is in a file at the destination that held something before the line was run."""
    assert request.destination_path is not None
    target = Path(request.destination_path)
    left_there(target, there)
    await run_as_printed(server, the_line(request).shell)
    return target.read_bytes()


def test_what_is_kept_is_not_sent_again(file: Path) -> None:
    data = file.read_bytes()

    async def scenario(server: GridFTPServer) -> None:
        def request(kept: Kept) -> CommandRequest:
            return a_request(
                settings={PLUGIN.name: OWN[0]},
                source_path=str(file),
                destination_path=str(server.folder / "x" / "copy"),
                server_url=server.url,
                kept=kept,
            )

        other = bytes(FILE_BYTES)
        assert await over(server, request(Kept(files=1)), other) == other
        assert await over(server, request(Kept(files=1)), other[1:]) == data
        first = bytes(FIRST_BYTES)
        rest = await over(server, request(Kept(first_bytes=FIRST_BYTES)), first)
        assert rest == first + data[FIRST_BYTES:]

    on_a_server(scenario)


def test_checksums_find_what_differs(file: Path) -> None:
    async def scenario(server: GridFTPServer) -> None:
        request = a_request(
            settings={PLUGIN.name: OWN[0]},
            source_path=str(file),
            destination_path=str(server.folder / "x" / "copy"),
            server_url=server.url,
            kept=Kept(first_bytes=FIRST_BYTES),
            verify=True,
        )
        with pytest.raises(AssertionError, match="checksum verification failure"):
            await over(server, request, bytes(FIRST_BYTES))

    on_a_server(scenario)


# --- names ---

CHARACTERS = [chr(code) for code in range(1, 128) if chr(code) != "/"] + ["é", "測", "\udce9"]
NAMES = [name for c in CHARACTERS for name in (f"a{c}b", f"{c}b", f"a{c}") if name != ".."]
STOPS_RECURSION = "-r stops at a name with a double quote"


def test_names_that_are_carried_and_those_that_are_not(tmp_path: Path) -> None:
    source = tmp_path / "names"

    async def scenario(server: GridFTPServer) -> None:
        pieces = []
        for number, name in enumerate(NAMES):
            (source / f"{number}").mkdir(parents=True)
            (source / f"{number}" / name).write_bytes(f"{number}".encode())
            path = f"{number}/{name}"
            pieces.append(
                Piece(source=f"{source}/{path}", target=f"{server.folder}/{path}", size_bytes=1)
            )
        await move(server, tmp_path, iter(pieces), setting=OWN[0])
        arrived = contents(server.folder)
        expected = {
            f"{number}/{name}"
            for number, name in enumerate(NAMES)
            if PLUGIN.carries(name) in {"", STOPS_RECURSION}
        }
        assert set(arrived) & set(contents(source)) == expected

    on_a_server(scenario)


def test_names_that_are_carried_by_recursion(tmp_path: Path) -> None:
    source = tmp_path / "names"
    source.mkdir()
    for name in NAMES:
        if not PLUGIN.carries(name):
            (source / name).write_bytes(name.encode())

    async def scenario(server: GridFTPServer) -> None:
        request = a_request(
            settings={PLUGIN.name: {"concurrency": 4, "parallelism": 1}},
            source_path=str(source),
            destination_path=str(server.folder / "new"),
            dataset=a_directory(1, 1),
            server_url=server.url,
        )
        await run_as_printed(server, the_line(request).shell)
        assert contents(server.folder / "new") == contents(source)
        (source / 'a"b').write_bytes(b"x")
        assert PLUGIN.carries('a"b') == STOPS_RECURSION
        with pytest.raises(AssertionError, match="error parsing url"):
            await run_as_printed(server, the_line(request).shell)

    on_a_server(scenario)


def test_names_that_the_server_makes_nothing_of(tmp_path: Path) -> None:
    (tmp_path / "測定").write_bytes(b"x")
    assert PLUGIN.carries("deep/測定")

    async def scenario(server: GridFTPServer) -> None:
        made_for_all(server.folder / "d")
        piece = Piece(source=f"{tmp_path}/測定", target=f"{server.folder}/d/測定", size_bytes=1)
        with pytest.raises(AssertionError, match="Is a directory"):
            await move(server, tmp_path, iter([piece]), setting=OWN[0])

    on_a_server(scenario)


def made_for_all(folder: Path) -> None:
    """Make a folder, and those above it, that the server's account may write in."""
    for path in (*reversed(folder.parents), folder):
        if not path.exists():
            path.mkdir()
            path.chmod(0o777)


def as_long_as(folder: Path, characters: int) -> Path:
    """A path below the folder with this many characters."""
    path = folder
    while (left := characters - len(str(path)) - 1) > 200:
        path = path / ("d" * 100)
    return path / ("f" * left)


def test_how_long_the_paths_in_a_list_may_be(tmp_path: Path) -> None:
    assert not PLUGIN.carries("n" * 255)
    assert "too long" in PLUGIN.carries(" " * 255)

    async def scenario(server: GridFTPServer) -> None:
        async def copied(source: Path, target: Path) -> None:
            source.parent.mkdir(parents=True, exist_ok=True)
            source.write_bytes(b"x")
            made_for_all(target.parent)
            piece = Piece(source=str(source), target=str(target), size_bytes=1)
            await move(server, tmp_path, iter([piece]), setting=OWN[0])
            assert target.read_bytes() == b"x"

        longest = as_long_as(tmp_path, 511 - len("file://"))
        await copied(longest, server.folder / "from the longest")
        with pytest.raises(AssertionError, match="No such file or directory"):
            await copied(longest.with_name(longest.name + "f"), server.folder / "x")
        room = 1023 - len(f"file://{tmp_path}/s {server.url}")
        longest = as_long_as(server.folder, room)
        await copied(tmp_path / "s", longest)
        with pytest.raises(AssertionError, match="Problem parsing url list"):
            await copied(tmp_path / "s", longest.with_name(longest.name + "f"))

    on_a_server(scenario)
