"""What the tests of `advisor transfer` share: what is moved, and how it is begun and watched."""

from pathlib import Path
from typing import Final, TypeAlias

from tests.soak.gridftp import KillableServer

from .moved import make_files
from .program import Run, Start
from .tool_servers import SendingServer, Server, SftpServer

# Of a path on which a piece is short, so that there are many of them.
PATH: Final = ["--bandwidth", "1Gbit", "--rtt", "20ms"]
EPOCHS: Final = ["--epoch", "1s", "--max-concurrency", "4", "--max-streams", "4"]
MANY: Final = 20_000
MANY_BYTES: Final = 1000


def make_endless(folder: Path) -> Path:
    """Few bytes in so many files that a test ends it before it is over.

    All are names of one file: a disk with `discard` takes minutes to remove as many files.
    """
    make_files(folder, {"many": (1, MANY_BYTES)})
    for number in range(1, MANY):
        (folder / "many" / f"{number}.dat").hardlink_to(folder / "many" / "0.dat")
    return folder


AnyServer: TypeAlias = Server | SftpServer | SendingServer


def use(server: AnyServer | KillableServer) -> list[str]:
    """The options that name the server, and the tool where it is not the usual one."""
    tool = ["--tool", server.tool] if isinstance(server, SftpServer | SendingServer) else []
    return ["--server", server.url, *tool]


def transfer(start: Start, server: AnyServer | KillableServer, source: Path, *options: str) -> Run:
    """Begin to move it to `there`, below the server's folder."""
    return start(
        *("transfer", str(source), "localhost", "--to", str(server.folder / "there"), *PATH),
        *(*use(server), *EPOCHS, *options),
    )


def until_files_arrived(run: Run, number: int = 0) -> None:
    """Until it says that more than this many are there."""
    while run.wait_for("files_moving")["classes"][0]["files"] <= number:
        pass


def until_lost(run: Run) -> None:
    """Until it says that the path is lost."""
    while "The path is lost" not in run.wait_for("notice")["message"]:
        pass
