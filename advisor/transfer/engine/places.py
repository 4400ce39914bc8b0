"""The paths that a transfer moves files between."""

import msgspec

from advisor.api.tool import Piece
from advisor.domain.manifest import entry_path
from advisor.models.slicing import Part


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """The source and target paths, as in `CommandRequest`.

    `source`, `target`: absolute paths of a folder, whose files have names relative to it, or of one
    file, whose name is "".
    """

    source: str
    target: str
    destination_host: str
    server_url: str | None = None

    def piece(self, part: Part) -> Piece:
        """The part in the form that tools are given."""
        return Piece(
            source=self.source_of(part.file.name),
            target=self.target_of(part.file.name),
            size_bytes=part.size_bytes,
            offset_bytes=part.offset_bytes,
            is_whole=part.is_whole,
        )

    def source_of(self, name: str) -> str:
        """The path of an entry at the source."""
        return entry_path(self.source, name)

    def target_of(self, name: str) -> str:
        """The path of an entry at the destination."""
        return entry_path(self.target, name)
