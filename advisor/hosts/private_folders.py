"""Folders and files that belong to this user alone: for locks, sockets and the state of labs.

The runtime folder is the first of these that can be made or opened and passes the checks:

    $ADVISOR_RUNTIME_DIR                        if it is set, and then no other
    /run/advisor                                root
    $XDG_RUNTIME_DIR/advisor                    others, if that folder is private as well
    /run/user/UID/advisor                       others: the same folder where cron sets no variables
    ~/.local/state/advisor/run/HOSTNAME         the last resort; hosts may share the home folder

A folder is private if the effective user owns it and nobody else has any right to it, and if nobody
else can replace it: each folder above it belongs to root or to this user, and is not writable by
all, unless it is sticky. No link is followed; only the home folder itself may be reached by links,
as at many sites. So a path that passed the checks can be used as a path afterwards.
"""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from platformdirs import user_state_path

from advisor.domain.problem import ProblemError, ProblemKind
from advisor.domain.shell import shell_line
from advisor.hosts.changeable import is_open_to_all

VARIABLE: Final = "ADVISOR_RUNTIME_DIR"
"""The environment variable that names another runtime folder."""

_FOLDER: Final = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Non-blocking: opening a pipe would wait for a writer.
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_OF_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


class NotPrivate(ProblemError):
    """A folder or file is not this user's alone, or cannot be made or read."""

    kind = ProblemKind.NO_ACCESS


def runtime_folder(*names: str) -> Path:
    """A folder of these names in the runtime folder, made if it is missing.

    Raises NotPrivate if no place for it passes the checks.
    """
    problems = []
    for place, private_from in _places():
        try:
            return private_folder(place.joinpath(*names), private_from)
        except NotPrivate as error:
            problems.append(error)
    raise problems[-1]


def present_runtime_folder(*names: str) -> Path:
    """That folder without making anything: one that passes the checks, or one that is missing.

    Raises NotPrivate if all there are do not pass.
    """
    problems, missing = [], []
    for place, private_from in _places():
        path = place.joinpath(*names)
        try:
            with _opened(path, private_from, make=False):
                return path
        except FileNotFoundError:
            missing.append(path)
        except NotPrivate as error:
            problems.append(error)
    if missing:
        return missing[0]
    raise problems[-1]


def private_folder(path: Path, private_from: Path | None = None) -> Path:
    """Make or open an absolute path as a private folder. Raises NotPrivate.

    `private_from`: the first folder on the way that must be private itself, `path` by default.
    Missing folders are made private, all of them.
    """
    with _opened(path, private_from or path, make=True):
        return path


@contextlib.contextmanager
def private_file(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file in a private folder for reading. Raises NotPrivate, FileNotFoundError.

    The file must be this user's; its own mode says nothing more, as only this user gets to it.
    """
    with _opened(path.parent, path.parent, make=False) as folder:
        try:
            handle = os.open(path.name, _FILE, dir_fd=folder)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise _failed(path, error) from None
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise NotPrivate(f"{path} is not a regular file", remedy="remove it")
        _require_own(path, status)
        yield file


def read_private(path: Path, limit_bytes: int) -> bytes:
    """The content of a file that passes the checks of `private_file`. Raises the same."""
    with private_file(path) as file:
        content = file.read(limit_bytes + 1)
    if len(content) > limit_bytes:
        raise NotPrivate(f"{path} is longer than {limit_bytes} bytes", remedy="remove it")
    return content


def _places() -> Iterator[tuple[Path, Path]]:
    """Where the runtime folder may be, each with the first folder there that must be private."""
    if named := os.environ.get(VARIABLE):
        place = Path(named).absolute()
        yield place, place
        return
    if os.geteuid() == 0:
        place = Path("/run/advisor")
        yield place, place
    else:
        for runtime in (os.environ.get("XDG_RUNTIME_DIR", ""), f"/run/user/{os.geteuid()}"):
            if runtime.startswith("/"):
                yield Path(runtime, "advisor"), Path(runtime)
    state = Path(os.path.realpath(user_state_path("advisor"))) / "run"
    yield state / os.uname().nodename, state


@contextlib.contextmanager
def _opened(path: Path, private_from: Path, *, make: bool) -> Iterator[int]:
    """The folder, opened name by name. Raises NotPrivate; FileNotFoundError unless `make`."""
    here = Path("/")
    current = os.open("/", _FOLDER)
    try:
        trusted = {0, os.geteuid(), os.fstat(current).st_uid}
        for name in path.parts[1:]:
            here /= name
            # Assigned before it is closed: Ctrl-C may come between, and nothing is closed twice.
            above, current = current, _entered(current, here, make=make)
            os.close(above)
            status = os.fstat(current)
            if here.is_relative_to(private_from):
                _require_private(here, status)
            else:
                _require_trusted(here, status, trusted)
        yield current
    finally:
        os.close(current)


def _entered(above: int, path: Path, *, make: bool) -> int:
    try:
        with contextlib.suppress(FileNotFoundError):
            return os.open(path.name, _FOLDER, dir_fd=above)
        if make:
            # Another process may have made it meanwhile.
            with contextlib.suppress(FileExistsError):
                os.mkdir(path.name, stat.S_IRWXU, dir_fd=above)
        return os.open(path.name, _FOLDER, dir_fd=above)
    except FileNotFoundError:
        raise
    except NotADirectoryError:
        raise NotPrivate(
            f"{path} is a link or not a folder", remedy=f"remove it, or set {VARIABLE}"
        ) from None
    except OSError as error:
        raise _failed(path, error) from None


def _require_trusted(path: Path, status: os.stat_result, trusted: set[int]) -> None:
    """Nobody but root and this user may replace what is in it."""
    if status.st_uid not in trusted:
        raise NotPrivate(
            f"{path}, which belongs to another user, leads to a folder that must be private",
            remedy=f"set {VARIABLE} to a folder of yours",
        )
    if is_open_to_all(status):
        raise NotPrivate(
            f"{path} is writable by everyone",
            remedy="take that right away",
            command=shell_line(["chmod", "o-w", str(path)]),
        )


def _require_private(path: Path, status: os.stat_result) -> None:
    _require_own(path, status)
    if status.st_mode & _OF_OTHERS:
        raise NotPrivate(
            f"{path} is open to other users (mode {stat.S_IMODE(status.st_mode):04o})",
            remedy="make it yours alone",
            command=shell_line(["chmod", "700", str(path)]),
        )


def _require_own(path: Path, status: os.stat_result) -> None:
    if status.st_uid != os.geteuid():
        raise NotPrivate(
            f"{path} belongs to another user",
            remedy=f"remove it, or set {VARIABLE} to a folder of yours",
        )


def _failed(path: Path, error: OSError) -> NotPrivate:
    return NotPrivate(
        f"{path}: {error.strerror or error}",
        remedy=f"set {VARIABLE} to a folder of yours that can be written",
    )
