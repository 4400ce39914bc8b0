"""The manifest of a source: every entry that is moved, and every exclusion with its reason."""

import hashlib
import posixpath
from enum import StrEnum

import msgspec


class EntryKind(StrEnum):
    """What an entry is. A hard link is a file like any other."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry. `name`: relative to the source, in UTF-8; "" for the source itself.

    `mode`: the permission bits. `mtime_ns`, `ctime_ns`: nanoseconds since 1970. `link_target`: the
    text of a symbolic link.
    """

    name: str
    kind: EntryKind
    mode: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    size_bytes: int = 0
    link_target: str = ""


class Exclusion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An entry that is not moved. `name`: relative, and printable: escapes stand for the rest.

    `wanted`: the user asked for it.
    """

    name: str
    reason: str
    wanted: bool = False


def entry_path(folder: str, name: str) -> str:
    """The path of an entry, whose name is "" if it is the source itself."""
    return posixpath.join(folder, name) if name else folder


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The listing of one source, sorted by name. `source`: its absolute path."""

    source: str
    entries: tuple[Entry, ...]
    exclusions: tuple[Exclusion, ...] = ()

    def of_kind(self, kind: EntryKind) -> tuple[Entry, ...]:
        """All entries of a kind."""
        return tuple(entry for entry in self.entries if entry.kind is kind)

    @property
    def is_folder(self) -> bool:
        """Whether the source is a folder, not one file."""
        return not (len(self.entries) == 1 and self.entries[0].kind is EntryKind.FILE)

    @property
    def unwanted(self) -> tuple[Exclusion, ...]:
        """The exclusions that the user did not ask for."""
        return tuple(one for one in self.exclusions if not one.wanted)

    @property
    def digest(self) -> str:
        """SHA-256 in hexadecimal of all entries and exclusions: equal for equal listings."""
        digest = hashlib.sha256()
        for one in (*self.entries, *self.exclusions):
            digest.update(msgspec.json.encode(one) + b"\n")
        return digest.hexdigest()


class ListingRules(msgspec.Struct, frozen=True, kw_only=True):
    """What of a source is listed.

    `exclude`: shell patterns of relative names; a folder that matches is excluded with its content.
    `follow_links`: list what symbolic links point to, instead of the links.
    """

    exclude: tuple[str, ...] = ()
    follow_links: bool = False
