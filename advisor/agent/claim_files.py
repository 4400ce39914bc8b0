"""The files that record claims: what they say, their locks, and what each of them claims.

    FOLDER/.advisor-claim-HASH

claims FOLDER, or what was to be created below it; HASH is that of the target's path.
"""

import contextlib
import errno
import hashlib
import os
import posixpath
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import msgspec

from advisor.agent.files import change_mode, opened_folder, rename_new
from advisor.domain.file_io import CLAIM_HASH_LENGTH, CLAIM_PREFIX, is_claim_name
from advisor.domain.printable import SHOWN
from advisor.hosts.decoding import BadData, decoded
from advisor.hosts.locks import try_lock

FORMAT: Final = 1

_NOTE_LIMIT_BYTES: Final = 16 * 1024
_NOT_FOR_WRITING: Final = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EISDIR)
_FLAGS: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class ClaimNote(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of the file. `token_hash`: SHA-256 of the secret of the transfer.

    `below`: the target from the folder of the file, which may be mounted elsewhere at another path;
    "" in those of versions that did not note it.
    """

    format: int
    target: Annotated[str, msgspec.Meta(max_length=8192)]
    manifest: Annotated[str, msgspec.Meta(max_length=128)]
    token_hash: Annotated[str, msgspec.Meta(max_length=128)]
    who: Annotated[str, msgspec.Meta(max_length=200, pattern=SHOWN)]
    since_s: Annotated[float, msgspec.Meta(ge=0, le=2**40)]
    below: Annotated[str, msgspec.Meta(max_length=8192)] = ""


class Found(msgspec.Struct, frozen=True):
    """A claim's file. `note`: None where it cannot be read. `is_active`: its transfer runs now.

    `has_locks`: otherwise the file system does not show whether it runs.
    """

    note: ClaimNote | None
    is_active: bool
    has_locks: bool


def name_of(target: str) -> str:
    """The name of the file that claims this target, without links."""
    return f"{CLAIM_PREFIX}{hash_of(target)[:CLAIM_HASH_LENGTH]}"


def hash_of(text: str) -> str:
    """SHA-256, in hexadecimal digits."""
    return hashlib.sha256(os.fsencode(text)).hexdigest()


def is_claim(name: str) -> bool:
    """Whether a file of this name is a claim's, or was to become one."""
    return is_claim_name(name) or is_claim_name(name.rpartition(".")[0])


def folders_from(path: str) -> list[str]:
    """The path and all folders above it."""
    return [path, *map(str, Path(path).parents)]


def is_within(path: str, folder: str) -> bool:
    """Whether it is this folder, or below it."""
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def create(file: Path, note: ClaimNote, *, replace: bool = False) -> int:
    """Create the file with its content, locked before it has its name; returns the lock.

    Raises FileExistsError, OSError.
    """
    draft = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
    lock = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        try_lock(lock)
        below = posixpath.relpath(note.target, file.parent)
        os.write(lock, msgspec.json.encode(msgspec.structs.replace(note, below=below)))
        os.fsync(lock)
        if replace:
            draft.replace(file)
        else:
            with opened_folder(str(file.parent)) as folder:
                rename_new(folder, draft.name, folder, file.name)
    except BaseException:
        draft.unlink(missing_ok=True)
        os.close(lock)
        raise
    return lock


def remove(file: Path) -> None:
    """Remove the file, if it is there, and leave its folder as it was. Raises OSError.

    Time and permissions of the folder are among the things that a transfer preserves: it may have
    made the folder read-only, as the source is.
    """
    before = file.parent.stat()
    try:
        file.unlink(missing_ok=True)
    except PermissionError:
        with opened_folder(str(file.parent)) as folder:
            mode = stat.S_IMODE(os.fstat(folder).st_mode)
            change_mode(folder, ".", mode | stat.S_IWUSR)
            try:
                os.unlink(file.name, dir_fd=folder)
            finally:
                change_mode(folder, ".", mode)
    with contextlib.suppress(OSError):  # Another account's folder: its time was not kept before.
        os.utime(file.parent, ns=(before.st_atime_ns, before.st_mtime_ns))


@contextlib.contextmanager
def opened(file: Path) -> Iterator[Found]:
    """What an existing file says; it is locked in the block, unless it is active.

    Raises OSError.
    """
    handle = _handle_of(file)
    try:
        locked = try_lock(handle)
        # One that was replaced since it was opened was replaced by a locked one.
        is_active = locked is False or not is_at(file, handle)
        yield Found(_note(handle), is_active=is_active, has_locks=locked is not None)
    finally:
        os.close(handle)


def note_of(file: Path) -> ClaimNote | None:
    """What the file says, if it can be read."""
    try:
        handle = os.open(file, os.O_RDONLY | _FLAGS)
    except OSError:
        return None
    try:
        return _note(handle)
    finally:
        os.close(handle)


def is_at(file: Path, handle: int) -> bool:
    """Whether the open file still has this name."""
    try:
        return os.path.samestat(file.lstat(), os.fstat(handle))
    except OSError:
        return False


def claims_around(target: str) -> Iterator[tuple[Path, str]]:
    """The files in the target and in the folders above it that claim it, a folder above it, or
    something in it: those in the target first, each with the path that it claims.

    That path is "" for one in the target that cannot be read. Raises OSError.
    """
    folders = folders_from(target)
    names = [name_of(folder) for folder in folders]
    for number, folder in enumerate(folders):
        known = dict(zip(names[: number + 1], folders[: number + 1], strict=True))
        # Known names are looked up as well: not every folder may be listed.
        for name in dict.fromkeys((*known, *claims_in(folder))):
            file = Path(folder, name)
            place = known.get(name) or _claimed_by(file)
            overlaps = is_within(target, place) or is_within(place, target) if place else not number
            if overlaps and os.path.lexists(file):
                yield file, place


def claims_in(folder: str) -> list[str]:
    """The names of all claims' files in a folder, as far as it may be listed. Raises OSError."""
    try:
        with os.scandir(folder) as found:
            names = [one.name for one in found if is_claim_name(one.name)]
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []
    return sorted(names)


def _claimed_by(file: Path) -> str:
    """What this file claims, as it is seen here; "" if it cannot be read."""
    note, folder = note_of(file), str(file.parent)
    if note is None:
        return ""
    if not note.below and is_within(note.target, folder):
        return note.target
    place = posixpath.normpath(posixpath.join(folder, note.below))
    return place if is_within(place, folder) else ""


def _handle_of(file: Path) -> int:
    """Open for writing too if this account may, for then NFSv4 can lock it. Raises OSError."""
    try:
        return os.open(file, os.O_RDWR | _FLAGS)
    except OSError as error:
        if error.errno not in _NOT_FOR_WRITING:
            raise
    return os.open(file, os.O_RDONLY | _FLAGS)


def _note(handle: int) -> ClaimNote | None:
    """What the file says; None for a file that is not a claim, which anyone may have put there."""
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        return None
    try:
        content = os.pread(handle, _NOTE_LIMIT_BYTES, 0)
        return decoded(msgspec.json.Decoder(ClaimNote), content, _NOTE_LIMIT_BYTES)
    except BadData:
        return None
