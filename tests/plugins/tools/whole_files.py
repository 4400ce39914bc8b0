"""Shared by the tests of tools that move whole files: an order, a login by ssh, a step run."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from advisor.api.command_line import bracketed
from advisor.api.server_files import ServerFilesTool
from advisor.api.tool import Piece, TransferOrder, TransferTool
from advisor.domain.endpoints import Endpoint
from advisor.domain.space import Setting
from advisor.hosts.processes import output_of, running
from advisor.runtime.request import ConnectionOptions
from advisor.runtime.tool_lookups import informed
from advisor.testing.samples import a_path
from tests.ssh_server import SshServer, ssh_that_knows

_RUN_S: Final = 60.0


def order_of(usual: Setting, /, *pieces: Piece, **changes: Any) -> TransferOrder:
    """To move these pieces; `usual`: the setting, if the changes have no other one."""
    given: dict[str, Any] = {
        "setting": usual,
        "pieces": pieces,
        "path": a_path(),
        "destination_host": "dtn",
        "list_file": "/tmp/files",
    }
    return TransferOrder(**(given | changes))


def logged_in(
    tool: TransferTool,
    scheme: str,
    server: SshServer,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    port: int = 0,
) -> TransferTool:
    """The tool after a login by ssh; `port`: of something in between."""
    config = f"Host {server.address}\n{server.login}"
    if port:
        config = config.replace(f"Port {server.port}", f"Port {port}")
        key = server.known_hosts.read_text().partition(" ")[2]
        server.known_hosts.write_text(f"[{server.address}]:{port} {key}")
    programs = ssh_that_knows(folder, config)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    request = ConnectionOptions(
        destination=Endpoint("localhost"),
        server_url=f"{scheme}://{bracketed(server.address)}:{port or server.port}",
    )
    return asyncio.run(informed(tool, request, str(folder / "t")))


def ran(tool: TransferTool, order: TransferOrder) -> tuple[int, str, str]:
    """Exit status, standard output and error of the step."""
    [step] = tool.steps(order)
    if step.list_text is not None:
        Path(order.list_file).write_text(step.list_text)

    async def scenario() -> tuple[int, str, str]:
        async with asyncio.timeout(_RUN_S), running(step.argv) as child:
            output = await child.stdout.read()
            status = await child.wait()
            return status, output.decode(), child.stderr.decode()

    return asyncio.run(scenario())


def files_named(names: Sequence[str], folder: Path, target: Path) -> list[Piece]:
    """New files of 100 kB each below `folder`, to be moved to the same names below `target`."""
    (folder / "it's below").mkdir(parents=True)
    pieces = []
    for name in names:
        source = folder / "it's below" / name
        source.write_bytes(os.urandom(100_000))
        own = str(source.relative_to(folder))
        pieces.append(Piece(source=str(source), target=str(target / own), size_bytes=100_000))
    return pieces


def replace_by_another(piece: Piece) -> None:
    """At its target, a file of the same size and time with another content."""
    target = Path(piece.target)
    target.parent.mkdir(parents=True)
    target.write_bytes(bytes(piece.size_bytes))
    times = Path(piece.source).stat()
    os.utime(target, ns=(times.st_mtime_ns, times.st_mtime_ns))


def assert_it_looks_after(
    tool: TransferTool, folder: Path, pieces: Sequence[Piece], beside: Path
) -> None:
    """Its folder at the server: listed, removed, and then absent; not what is beside it."""
    assert isinstance(tool, ServerFilesTool)
    beside.write_text("not ours")
    commands = tool.server_commands(str(folder))

    def run(argv: list[str]) -> tuple[int, str]:
        return asyncio.run(output_of(argv, _RUN_S))

    status, text = run(commands.sizes)
    assert status == 0
    assert tool.sizes_in(str(folder), text) == {
        str(Path(one.target).relative_to(folder)): one.size_bytes for one in pieces
    }
    looks = [commands.look] if commands.look else []
    for argv in (*looks, commands.remove):
        assert run(argv)[0] == 0
    assert beside.read_text() == "not ours"
    for argv in (*looks, commands.sizes, commands.remove):
        assert run(argv)[0] == commands.absent_status


def find_that_fails(folder: Path) -> dict[str, str]:
    """An environment in which `find` could not look into every folder."""
    program = folder / "failing" / "find"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nPATH=${PATH#*:} find "$@"\nexit 1\n')
    program.chmod(0o755)
    return os.environ | {"PATH": f"{program.parent}:{os.environ['PATH']}"}


def assert_they_arrived(tool: TransferTool, pieces: Sequence[Piece], output: str) -> None:
    """Each under its name, nothing else, and all reported by the tool."""
    for piece in pieces:
        assert Path(piece.source).read_bytes() == Path(piece.target).read_bytes()
    above = Path(pieces[0].target).parents[1]
    arrived = [path for path in above.rglob("*") if path.is_file()]
    assert len(arrived) == len(pieces)
    reader = tool.reader()
    read = [progress for line in output.splitlines() if (progress := reader.feed(line))]
    assert read[-1].moved_bytes == sum(piece.size_bytes for piece in pieces)


def linked(folder: Path, target: Path) -> list[Piece]:
    """What is moved of a folder in which a file, a folder and a folder below are links.

    Nothing of it has the name of a link or a file that is not moved, which are there as well.
    """
    for name in ("plain", "../elsewhere/f", "../elsewhere/deep/f", "../other", "../else/f"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"content of {name}")
    for name, text in (("file", "../other"), ("folder", "../elsewhere"), ("kept", "../other")):
        (folder / name).symlink_to(text)
    (folder.parent / "elsewhere/again").symlink_to("../else")
    names = ["plain", "file", "folder/f", "folder/deep/f", "folder/again/f"]
    return [
        Piece(
            source=str(folder / name),
            target=str(target / name),
            size_bytes=(folder / name).stat().st_size,
        )
        for name in names
    ]


def assert_what_links_point_to_arrived(pieces: Sequence[Piece], target: Path) -> None:
    """As files of their own, and nothing else."""
    for piece in pieces:
        assert Path(piece.source).read_bytes() == Path(piece.target).read_bytes()
    arrived = [path for path in target.rglob("*") if path.is_symlink() or not path.is_dir()]
    assert not [path for path in target.rglob("*") if path.is_symlink()]
    assert {str(path) for path in arrived} == {piece.target for piece in pieces}
