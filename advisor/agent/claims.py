"""The exclusive right of one transfer to write at a target, held by a locked file.

The file lies in the target, or in the nearest existing folder above it. The lock ends with the
process that holds it, the file stays until the transfer is complete: without a lock it marks a
transfer that was abandoned. On a file system without locks the file alone counts: another transfer
has to take it over explicitly.

A claim conflicts with those of the target, of the folders above it, and of what is in it. Those
above are seen when it is made, those in existing folders of it when the transfer comes to these:
a whole tree is not searched. One that is made later sees this one above.
"""

import os
import posixpath
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from advisor.agent.claim_files import (
    FORMAT,
    ClaimNote,
    Found,
    claims_around,
    claims_in,
    create,
    folders_from,
    hash_of,
    is_at,
    is_within,
    name_of,
    note_of,
    opened,
    remove,
)
from advisor.agent.files import FileRights, FilesRefused
from advisor.domain.problem import ProblemError, ProblemKind
from advisor.hosts.checksums import reason_of

_SAME_TRANSFER_S: Final = 45.0
"""How long to wait for the lock of the same transfer: an agent notices a lost peer after 30 s."""

_SEEN_S: Final = 5.0
"""How long a network file system may hide a new file from other hosts, about: those of NFS ask
their server again after three seconds."""

_LOOK_AGAIN_S: Final = 0.2
_UNREAD: Final = Found(None, is_active=True, has_locks=True)
_FREE_FOLDERS: Final = 10_000
"""How many folders are remembered; a transfer comes to them in their order."""


class Taken(ProblemError):
    """Another transfer has the target, a folder above it or a place in it, by this file.

    `place`: what it has, as it is seen here.
    """

    kind = ProblemKind.BUSY

    def __init__(self, file: Path, place: str, found: Found) -> None:
        super().__init__(f"{file} is held by another transfer")
        self.file = file
        self.place = place
        self.found = found


class Claim:
    """A held claim. `root`: the target without links; `target`: as it was named.

    `is_resumed`: it continues an earlier claim of the same transfer. `is_joined`: an agent on
    another host holds it.
    """

    def __init__(
        self,
        target: str,
        root: str,
        file: Path,
        lock: int | None,
        note: ClaimNote,
        *,
        take_over: bool = False,
    ) -> None:
        self.target = target
        self.root = root
        self.note = note
        self.is_resumed = False
        self.is_joined = lock is None
        self._file = file
        self._lock = lock
        self._take_over = take_over
        self._free: set[str] = set()

    @property
    def name(self) -> str:
        """The name of its file."""
        return self._file.name

    def check_free(self, folder: str) -> None:
        """Raises Taken if another transfer has this folder in the target, or one on the way to it.

        `folder`: without links. Each is looked at once, since later claims see this one. Raises
        OSError.
        """
        if len(self._free) > _FREE_FOLDERS:
            self._free.clear()
        while folder not in self._free and is_within(folder, self.root) and folder != self.root:
            for name in claims_in(folder):
                _check(Path(folder, name), folder, take_over=self._take_over)
            self._free.add(folder)
            folder = posixpath.dirname(folder)

    def release(self, *, done: bool) -> str:
        """Give it up; `done` also removes the file. Does nothing a second time.

        Returns why the file could not be removed, "" otherwise.
        """
        if self._lock is None:
            return ""
        lock, self._lock = self._lock, None
        try:
            if done and is_at(self._file, lock):
                remove(self._file)
        except OSError as error:
            return reason_of(error)
        finally:
            os.close(lock)
        return ""


def claim(
    rights: FileRights,
    target: str,
    manifest: str,
    token: str,
    who: str,
    *,
    take_over: bool = False,
    check: Callable[[], None] = lambda: None,
) -> Claim:
    """Claim a target. Blocks; calls `check` while it waits for an earlier agent of the same
    transfer.

    Raises Taken, FilesRefused.
    """
    root = rights.resolved(target)
    note = ClaimNote(
        format=FORMAT,
        target=root,
        manifest=manifest,
        token_hash=hash_of(token),
        who=who,
        since_s=time.time(),
    )
    deadline_s = time.monotonic() + _SAME_TRANSFER_S
    while True:
        check()
        try:
            return _claimed(target, root, note, take_over=take_over)
        except Taken as error:
            earlier = error.found.note
            is_same = earlier is not None and earlier.token_hash == note.token_hash
            if not (is_same and error.found.is_active) or time.monotonic() > deadline_s:
                raise
        except OSError as error:
            raise FilesRefused(
                f"{target} cannot be claimed for one transfer ({error.strerror or error})",
                remedy="run the agent as the account that owns this folder",
            ) from None
        time.sleep(_LOOK_AGAIN_S)


def joined(
    rights: FileRights,
    target: str,
    token: str,
    since_s: float,
    check: Callable[[], None] = lambda: None,
) -> Claim:
    """A claim that an agent on another host holds on the same file system: for reading alone.

    Blocks; calls `check` while it waits for that host's file to be seen here. `since_s`: of that
    claim, which distinguishes it from one that an earlier run has left on another file system.
    Raises FilesRefused.
    """
    root = rights.resolved(target)
    deadline_s = time.monotonic() + _SEEN_S
    while True:
        check()
        for note in _notes(root):
            if (note.token_hash, note.since_s) == (hash_of(token), since_s):
                return Claim(target, root, Path(name_of(root)), None, note)
        if time.monotonic() > deadline_s:
            raise FilesRefused(
                f"{target} here is not on the file system of the other destination nodes",
                remedy="name nodes that have it mounted at the same path",
            )
        time.sleep(_LOOK_AGAIN_S)


def _notes(root: str) -> list[ClaimNote]:
    """What the files say that claim this target, as far as they can be read."""
    try:
        files = [file for file, place in claims_around(root) if place == root]
    except OSError:
        return []
    return list(filter(None, map(note_of, files)))


def _claimed(target: str, root: str, note: ClaimNote, *, take_over: bool) -> Claim:
    earlier = _only(root, take_over=take_over)
    if earlier is None:
        file, is_same = Path(_nearest_folder(root), name_of(root)), False
        lock = _created(file, root, note)
    else:
        file = earlier
        lock, is_same = _taken_over(earlier, root, note, take_over=take_over)
    claim = Claim(target, root, file, lock, note, take_over=take_over)
    claim.is_resumed = is_same
    try:
        # Another may have come in between, with its file in another folder.
        if _only(root, mine=file, take_over=take_over) is None or not is_at(file, lock):
            raise Taken(file, root, _UNREAD)
    except BaseException:
        claim.release(done=earlier is None)
        raise
    return claim


def _only(root: str, mine: Path | None = None, *, take_over: bool) -> Path | None:
    """The file that claims the target, `mine` or one to be taken over, None without one.

    Raises Taken if a claim of another target conflicts with it, OSError.
    """
    own: Path | None = None
    for file, place in claims_around(root):
        if own is None and place == root and mine in (None, file):
            own = file
        elif file != mine:
            _check(file, place or root, take_over=take_over)
    return own


def _check(file: Path, place: str, *, take_over: bool) -> None:
    """Raises Taken unless this claim of a `place` was abandoned and is taken over, OSError."""
    try:
        with opened(file) as found:
            if found.is_active or not take_over:
                raise Taken(file, place, found)
    except FileNotFoundError:
        pass  # It has ended meanwhile.
    except PermissionError:
        if not take_over:
            unknown = Found(None, is_active=False, has_locks=False)
            raise Taken(file, place, unknown) from None


def _taken_over(file: Path, root: str, note: ClaimNote, *, take_over: bool) -> tuple[int, bool]:
    """The lock of a claim that replaces an abandoned one, and whether that was of this transfer.

    Raises Taken, OSError.
    """
    with opened(file) as found:
        earlier = found.note
        is_same = earlier is not None and (
            earlier.token_hash == note.token_hash
            or (earlier.manifest == note.manifest and found.has_locks)
        )
        if found.is_active or not (is_same or take_over):
            raise Taken(file, root, found)
        return create(file, note, replace=True), is_same


def _created(file: Path, root: str, note: ClaimNote) -> int:
    """The lock of a new claim. Raises Taken, OSError."""
    try:
        return create(file, note)
    except FileExistsError:
        raise Taken(file, root, _UNREAD) from None


def _nearest_folder(root: str) -> str:
    return next(folder for folder in folders_from(root) if Path(folder).is_dir())
