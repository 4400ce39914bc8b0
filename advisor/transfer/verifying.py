"""Compares a copy with its original: every file here with the one at the destination."""

import asyncio
import errno
import functools
import os
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Literal, TypeAlias

import msgspec

from advisor.agent.client import AgentLink
from advisor.domain.manifest import EntryKind, Exclusion
from advisor.domain.problem import ProblemError, ProblemKind
from advisor.hosts.checksums import Checksum, Reading, checksum_of, in_thread, reason_of
from advisor.hosts.source_listing import NOT_UTF8, listing
from advisor.runtime.connect import reach
from advisor.runtime.request import ConnectionOptions

DifferenceKind: TypeAlias = Literal["missing", "size", "checksum", "changed", "unreadable", "name"]
_Version: TypeAlias = tuple[int, int]


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is not known to be identical. `name`: relative, "" if one file was compared.

    `kind`: it is `missing` there, has another `size` or `checksum`; or it could not be compared: it
    `changed` here meanwhile, was `unreadable` on the `side` for the `reason`, or has a `name` that
    is not UTF-8 (in which backslash escapes stand for the bytes that are not).
    """

    name: str
    kind: DifferenceKind
    here_bytes: int | None = None
    there_bytes: int | None = None
    side: Literal["source", "destination"] | None = None
    reason: str = ""

    @property
    def is_certain(self) -> bool:
        """Whether the copy is known to differ; otherwise it could not be compared."""
        return self.kind in ("missing", "size", "checksum")


class CopyComparison(msgspec.Struct, frozen=True, kw_only=True):
    """The result. `files`: all files here; `total_bytes`: theirs, as far as they could be read.

    `sizes_only`: contents were not compared.
    """

    files: int
    total_bytes: int
    sizes_only: bool
    differences: tuple[Difference, ...]

    @property
    def identical(self) -> bool:
        """Whether all files are identical on both sides."""
        return not self.differences


class CopyProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How many of the bytes to read have been read, as the mean of both sides."""

    read_bytes: float
    total_bytes: int


Seen: TypeAlias = Callable[[CopyProgress], None]


class NothingThere(ProblemError, ValueError):
    """There is no file to compare."""

    kind = ProblemKind.MISSING


class _Local(msgspec.Struct, frozen=True):
    """A file here, with its size and modification time when it was found."""

    name: str
    path: Path
    target: str
    version: _Version

    @property
    def size_bytes(self) -> int:
        return self.version[0]


async def verify(
    request: ConnectionOptions, source: Path, to: str, seen: Seen, *, sizes_only: bool
) -> CopyComparison:
    """Connect and compare. Raises PeerError, BadSecret, NothingThere, OSError."""
    reached = await reach(request)
    try:
        return await compare(
            reached.link, source, target_of(source, to), seen, sizes_only=sizes_only
        )
    finally:
        await asyncio.shield(reached.link.close())


def target_of(source: Path, to: str) -> str:
    """Where tools put a file or the contents of a folder, as in `CommandRequest.target`."""
    target = "/" + to.lstrip("/")
    if target.endswith("/") and not source.is_dir():
        return target + source.absolute().name
    return target


async def compare(
    link: AgentLink,
    source: Path,
    target: str,
    seen: Seen,
    *,
    sizes_only: bool = False,
    names: Collection[str] | None = None,
) -> CopyComparison:
    """Compare every file below `source`, or that file itself, with what is at `target`.

    `names`: compare these instead, also below links; one that is not here is a difference. Files
    that are only there do not matter. Raises PeerError, NothingThere, OSError.
    """
    if names is None:
        finding = functools.partial(_listed, source, target)
    else:
        finding = functools.partial(_named, source, target, sorted(names))
    found = await in_thread(finding, lambda _: None)
    files = [one for one in found if isinstance(one, _Local)]
    differences = [one for one in found if isinstance(one, Difference)]
    if names is None and not found:
        raise NothingThere(f"{source} contains no files")
    sizes = await link.sizes([file.target for file in files])
    same = []
    for file, there_bytes in zip(files, sizes, strict=True):
        if there_bytes == file.size_bytes:
            same.append(file)
        else:
            differences.append(_of_another_size(file, there_bytes))
    if not sizes_only and same:
        differences += await _other_contents(link, same, seen)
    return CopyComparison(
        files=len(found),
        total_bytes=sum(file.size_bytes for file in files),
        sizes_only=sizes_only,
        differences=tuple(sorted(differences, key=lambda one: one.name)),
    )


def _listed(source: Path, target: str, reading: Reading) -> list[_Local | Difference]:
    """Files that can be compared, and why others cannot. Raises OSError for the source itself."""
    found: list[_Local | Difference] = []
    for one in reading.each(listing(source)):
        if isinstance(one, Exclusion):
            found.append(_excluded(one))
        elif one.kind is not EntryKind.FOLDER:
            found += _looked_at(source, one.name, target)
    return found


def _named(
    source: Path, target: str, names: Sequence[str], reading: Reading
) -> list[_Local | Difference]:
    """Files of these names, and why some cannot be compared."""
    found: list[_Local | Difference] = []
    for name in reading.each(names):
        gone = _unreadable(name, "source", os.strerror(errno.ENOENT))
        found += list(_looked_at(source, name, target)) or [gone]
    return found


def _excluded(one: Exclusion) -> Difference:
    if one.reason == NOT_UTF8:
        return Difference(name=one.name, kind="name")
    return _unreadable(one.name, "source", one.reason)


def _looked_at(source: Path, name: str, target: str) -> Iterator[_Local | Difference]:
    """A file, also through a link; tools move nothing else. Nothing if there is none."""
    path = source / name if name else source.absolute()
    there = f"{target.rstrip('/')}/{name}" if name else target
    try:
        status = path.stat()
    except FileNotFoundError:
        if path.is_symlink():
            yield _unreadable(name, "source", "a dangling link")
        return
    except OSError as error:
        yield _unreadable(name, "source", reason_of(error))
        return
    if stat.S_ISREG(status.st_mode):
        yield _Local(name, path, there, _version(status))
    else:
        yield _unreadable(name, "source", "a link to something else than a file")


def _version(status: os.stat_result) -> _Version:
    return status.st_size, status.st_mtime_ns


def _unreadable(name: str, side: Literal["source", "destination"], reason: str) -> Difference:
    return Difference(name=name, kind="unreadable", side=side, reason=reason)


def _has_changed(file: _Local) -> bool:
    try:
        return _version(file.path.stat()) != file.version
    except OSError:
        return True


def _of_another_size(file: _Local, there_bytes: int | None) -> Difference:
    if there_bytes is None:
        return Difference(name=file.name, kind="missing", here_bytes=file.size_bytes)
    kind: DifferenceKind = "changed" if _has_changed(file) else "size"
    return Difference(
        name=file.name, kind=kind, here_bytes=file.size_bytes, there_bytes=there_bytes
    )


async def _other_contents(link: AgentLink, files: Sequence[_Local], seen: Seen) -> list[Difference]:
    """The files whose contents differ; both sides read at the same time."""
    total_bytes = sum(file.size_bytes for file in files)
    read_bytes = {"here": 0, "there": 0}

    def hear(side: str, count: int) -> None:
        read_bytes[side] = count
        seen(CopyProgress(read_bytes=sum(read_bytes.values()) / 2, total_bytes=total_bytes))

    try:
        async with asyncio.TaskGroup() as both:
            here = both.create_task(
                in_thread(functools.partial(_read_here, files), functools.partial(hear, "here"))
            )
            there = both.create_task(
                link.checksums([file.target for file in files], functools.partial(hear, "there"))
            )
    except ExceptionGroup as group:
        raise group.exceptions[0] from None
    pairs = zip(files, here.result(), there.result(), strict=True)
    return [difference for each in pairs if (difference := _judged(*each))]


def _read_here(files: Sequence[_Local], reading: Reading) -> list[Checksum | None]:
    """Their checksums, None for a file that changed since it was found."""
    checksums = []
    for file in files:
        checksum = checksum_of(functools.partial(_opened, file.path), reading)
        checksums.append(None if _has_changed(file) else checksum)
    return checksums


def _opened(path: Path) -> BinaryIO:
    return path.open("rb")


def _judged(file: _Local, here: Checksum | None, there: Checksum) -> Difference | None:
    if here is None:
        return Difference(name=file.name, kind="changed", here_bytes=file.size_bytes)
    if here.reason:
        return _unreadable(file.name, "source", here.reason)
    if there.reason:
        return _unreadable(file.name, "destination", there.reason)
    if here == there:
        return None
    size_bytes = file.size_bytes
    return Difference(
        name=file.name, kind="checksum", here_bytes=size_bytes, there_bytes=size_bytes
    )
