"""The agent's part of a transfer that proves what it delivers.

It holds the claim of the target, looks at what is there, reads back what was written, creates what
tools do not move, and signs the receipt. Nothing outside the claimed target is changed, and no link
is followed.
"""

import contextlib
import functools
import hashlib
import os
import posixpath
import socket
import stat
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar

import msgspec

from advisor.agent import messages as m
from advisor.agent import target_messages as t
from advisor.agent.claim_files import is_claim, is_within
from advisor.agent.claims import Claim, Taken, claim, joined
from advisor.agent.files import (
    FileRights,
    FilesRefused,
    OutOfTarget,
    change_mode,
    open_at,
    opened_folder,
    place_of,
    unfollowed,
)
from advisor.domain.proof import Algorithm, Statement, piece_line
from advisor.hosts.checksums import Reading, reason_of
from advisor.hosts.digests import digest_of

if TYPE_CHECKING:
    from advisor.agent.signing import AgentKey

_T = TypeVar("_T")
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_Seen: TypeAlias = tuple[Literal["file", "folder", "link", "other", "outside"], int] | None


class Delivery:
    """What one conversation does with the target of its transfer.

    Its requests are done one at a time, in threads, of which none can be ended: one that is not
    waited for any more still keeps the claim until it has ended. `keeps_key`: whether the key that
    signs is kept for later conversations.
    """

    def __init__(self, rights: FileRights, *, keeps_key: bool = True) -> None:
        self._rights = rights
        self._keeps_key = keeps_key
        self._claim: Claim | None = None
        self._pieces = hashlib.sha256()
        self._count = 0
        self._algorithm = Algorithm.BLAKE3
        self._is_closed = False
        self._at_work = threading.Lock()

    def close(self) -> None:
        """Give up the claim, which marks an abandoned transfer from now on.

        While a thread is still at work, it gives it up when it has ended.
        """
        self._is_closed = True
        self._give_up()

    def _give_up(self) -> None:
        """Nothing while a thread is at work."""
        if self._at_work.acquire(blocking=False):
            try:
                if self._claim is not None:
                    self._claim.release(done=False)
            finally:
                self._at_work.release()

    def answer(self, request: t.Delivery, reading: Reading) -> m.Reply:
        """The reply. Blocks. Raises FilesRefused, ReadingStopped."""
        try:
            with self._at_work:
                reading.check()
                return self._answer(request, reading)
        finally:
            # Only now, so that either this thread or `close` finds that nobody is at work.
            if self._is_closed:
                self._give_up()

    def _answer(self, request: t.Delivery, reading: Reading) -> m.Reply:
        match request:
            case t.ClaimTarget():
                return self._take(request, reading)
            case t.JoinTarget():
                return self._join(request, reading)
            case t.ReleaseTarget(done=done):
                self._require_held()
                why = self._claimed.release(done=done)
                left = f"{self._claimed.name}: {why}"[:100] if why else ""
                self._claim = None
                return t.TargetReleased(left=left)
            case t.LookAtTarget(paths=paths):
                return self._looked(paths, reading)
            case t.GetDigests():
                digests = [self._digest(request.algorithm, *one, reading) for one in request.pieces]
                return t.DigestsFound(digests=digests, seen_bytes=reading.seen_bytes)
            case t.AddToReceipt():
                self._add(request)
                return t.ReceiptGrown()
            case t.SignReceipt():
                return self._sign(request)
            case _:
                return self._change(request, reading)

    def _change(self, request: t.Change, reading: Reading) -> t.TargetChanged:
        self._require_held()
        match request:
            case t.RemoveExisting(paths=paths):
                return _changed(self._remove, reading.each(paths))
            case t.MakeFolders(paths=paths):
                return _changed(self._make_folder, reading.each(paths))
            case t.MakeLinks(links=links):
                return _changed(self._make_link, reading.each(links))
            case t.SetAttributes(entries=entries):
                return _changed(self._set_attributes, reading.each(entries))

    @property
    def _claimed(self) -> Claim:
        if self._claim is None:
            raise FilesRefused("no target is claimed")
        return self._claim

    def _require_held(self) -> None:
        """Raises FilesRefused where another host's agent is the one that may change the target."""
        if self._claim is not None and self._claim.is_joined:
            raise FilesRefused("the agent of another host holds the claim of this target")

    def _join(self, request: t.JoinTarget, reading: Reading) -> t.TargetJoined:
        if self._claim is not None:
            raise FilesRefused(f"{self._claim.target} is claimed already")
        self._claim = joined(
            self._rights, request.target, request.token, request.since_s, reading.check
        )
        return t.TargetJoined(key=self._public_key())

    def _take(self, request: t.ClaimTarget, reading: Reading) -> m.Reply:
        if self._claim is not None:
            raise FilesRefused(f"{self._claim.target} is claimed already")
        try:
            taken = claim(
                self._rights,
                request.target,
                request.manifest,
                request.token,
                request.who,
                take_over=request.take_over,
                check=reading.check,
            )
        except Taken as error:
            return _taken(error)
        self._claim = taken
        self._pieces, self._count = hashlib.sha256(), 0
        return t.TargetClaimed(
            is_empty=_is_empty(taken),
            is_resumed=taken.is_resumed,
            since_s=taken.note.since_s,
            key=self._public_key(),
            boot=_boot(),
        )

    def in_target(self, path: str) -> tuple[str, str] | None:
        """Resolved folder and name of a path that is claimed, by its text; None for any other.

        Raises FilesRefused.
        """
        if self._claim is None:
            return None
        plain, target = posixpath.normpath(path), posixpath.normpath(self._claim.target)
        if not (is_within(plain, target) or is_within(plain, self._claim.root)):
            return None
        return self._place(path, unfollowed)

    def _place(
        self, path: str, place: Callable[[FileRights, str], tuple[str, str]] = place_of
    ) -> tuple[str, str]:
        """Resolved folder and name of a path of the claimed target. Raises FilesRefused."""
        root = self._claimed.root
        if path.rstrip("/") == self._claimed.target.rstrip("/"):
            return posixpath.split(root)
        folder, name = place(self._rights, path)
        if posixpath.commonpath((root, posixpath.join(folder, name))) != root:
            raise OutOfTarget(f"{path[:200]} leads out of the claimed target")
        return folder, name

    def _looked(self, paths: list[str], reading: Reading) -> m.Reply:
        try:
            return t.TargetSeen(found=[self._look(path) for path in reading.each(paths)])
        except Taken as error:
            return _taken(error)

    def _look(self, path: str) -> _Seen:
        try:
            folder, name = self._place(path)
        except FilesRefused:
            return "outside", 0
        try:
            self._claimed.check_free(folder)
            with opened_folder(folder) as parent:
                status = os.stat(name, dir_fd=parent, follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                self._claimed.check_free(posixpath.join(folder, name))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            return "other", 0
        if stat.S_ISREG(status.st_mode):
            return "file", status.st_size
        if stat.S_ISDIR(status.st_mode):
            return "folder", 0
        return ("link", 0) if stat.S_ISLNK(status.st_mode) else ("other", 0)

    def _remove(self, path: str) -> None:
        folder, name = self._place(path)
        with opened_folder(folder) as parent, contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=parent)

    def _make_folder(self, path: str) -> None:
        folder, name = self._place(path)
        with opened_folder(posixpath.join(folder, name), make=True):
            pass

    def _make_link(self, link: tuple[str, str]) -> None:
        path, text = link
        folder, name = self._place(path)
        with opened_folder(folder, make=True) as parent:
            try:
                os.symlink(text, name, dir_fd=parent)
            except FileExistsError:
                if not _is_link_to(parent, name, text):
                    raise

    def _set_attributes(self, entry: tuple[str, int | None, int]) -> None:
        path, mode, mtime_ns = entry
        folder, name = self._place(path)
        with opened_folder(folder) as parent:
            times = (mtime_ns, mtime_ns)
            os.utime(name, ns=times, dir_fd=parent, follow_symlinks=False)
            if mode is not None:
                change_mode(parent, name, mode)

    def _digest(
        self, algorithm: Algorithm, path: str, offset: int, size: int, reading: Reading
    ) -> t.PieceDigest:
        try:
            with open_at(*(self.in_target(path) or unfollowed(self._rights, path))) as file:
                digest = digest_of(file, offset, size, algorithm, reading)
        except OSError as error:
            return t.PieceDigest("", reason=reason_of(error))
        except FilesRefused as error:
            return t.PieceDigest("", reason=str(error)[:100])
        seal = ""
        if self._claim is not None:
            seal = self._seal(algorithm, path, offset, size, digest)
        return t.PieceDigest(digest, seal)

    def _seal(self, algorithm: Algorithm, path: str, offset: int, size: int, digest: str) -> str:
        transfer = f"{self._claimed.note.token_hash} {algorithm}\n".encode()
        return self._key().seal(transfer + piece_line(path, offset, size, digest))

    def _add(self, request: t.AddToReceipt) -> None:
        self._require_held()
        if self._count and request.algorithm is not self._algorithm:
            raise FilesRefused("the pieces of one receipt have the same algorithm")
        self._algorithm = request.algorithm
        for one in request.pieces:
            what = (one.path, one.offset_bytes, one.size_bytes, one.digest)
            if one.seal != self._seal(self._algorithm, *what):
                raise FilesRefused(f"this agent has not read {one.path[:200]} as it is described")
            self._pieces.update(piece_line(*what))
        self._count += len(request.pieces)

    def _sign(self, request: t.SignReceipt) -> m.Reply:
        self._require_held()
        statement = msgspec.json.encode(
            Statement(
                host=socket.gethostname(),
                target=self._claimed.target,
                algorithm=self._algorithm,
                pieces=self._count,
                pieces_digest=self._pieces.hexdigest(),
                manifest_digest=request.manifest,
                tool=request.tool,
                made_s=time.time(),
            )
        )
        # What is signed once cannot be added to.
        self._pieces, self._count = hashlib.sha256(), 0
        key = self._key()
        return t.ReceiptSigned(
            statement=statement.decode(), signature=key.sign(statement), public_key=key.public
        )

    def _key(self) -> "AgentKey":
        """Raises FilesRefused."""
        # Only now: most conversations sign nothing, and cryptography takes long to load.
        from advisor.agent.signing import agent_key, passing_key

        try:
            return agent_key() if self._keeps_key else passing_key()
        except OSError as error:
            raise FilesRefused(f"the agent has no key for receipts ({error})") from None

    def _public_key(self) -> str:
        """ "" without a key; that is said when something is to be sealed with it."""
        try:
            return self._key().public
        except FilesRefused:
            return ""


def _taken(error: Taken) -> t.TargetTaken:
    note = error.found.note
    return t.TargetTaken(
        target=error.place,
        file=str(error.file),
        who=note.who if note else "",
        since_s=note.since_s if note else 0.0,
        is_active=error.found.is_active,
        is_certain=error.found.has_locks,
    )


def _boot() -> str:
    """The kernel's own name of this start of the host; "" if it cannot be read."""
    try:
        return _BOOT.read_text().strip()[:64]
    except OSError:
        return ""


def _is_empty(taken: Claim) -> bool:
    """Whether nothing but the claim exists at the target."""
    try:
        with os.scandir(taken.root) as found:
            return all(is_claim(one.name) for one in found)
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _changed(change: Callable[[_T], None], items: Iterator[_T]) -> t.TargetChanged:
    return t.TargetChanged(reasons=[_reason(functools.partial(change, item)) for item in items])


def _reason(change: Callable[[], None]) -> str:
    try:
        change()
    except OSError as error:
        return reason_of(error)
    except FilesRefused as error:
        return str(error)[:100]
    return ""


def _is_link_to(folder: int, name: str, text: str) -> bool:
    try:
        return os.readlink(name, dir_fd=folder) == text
    except OSError:
        return False
