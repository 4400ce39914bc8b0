"""What the forms that move files have in common: the entries as typed."""

from typing import Final

import msgspec

from advisor.tui.features.advising.draft import Draft
from advisor.tui.kit.fields.paths import in_full

ONCE_FLAGS: Final = {
    "--restart": "restart",
    "--overwrite": "overwrite",
    "--skip-existing": "skip_existing",
    "--take-over": "take_over",
}
"""Flags of one run, and their entries: the next run asks again before it replaces anything."""


class MoveDraft(Draft, kw_only=True):
    """`restart`: move also what an earlier run moved; stored under its former name.

    `overwrite`, `skip_existing`: what becomes of files that exist at the destination. `take_over`:
    write where another transfer was abandoned.
    """

    epoch: str = ""
    restart: bool = msgspec.field(default=False, name="anew")
    overwrite: bool = False
    skip_existing: bool = False
    take_over: bool = False

    @property
    def data_path(self) -> str:
        """The path of what is moved. It is absolute, so a command cannot take it for an option."""
        return in_full(self.data.strip())

    @property
    def once_flags(self) -> list[str]:
        """The flags that hold for one run only."""
        return [flag for flag, name in ONCE_FLAGS.items() if getattr(self, name)]

    def forget_once(self) -> None:
        """The next run has none of these flags."""
        for name in ONCE_FLAGS.values():
            setattr(self, name, False)

    def why_no_data(self) -> str:
        """Why there is nothing to move, with the remedy; "" where there is."""
        if self.data.strip():
            return ""
        return "nothing to move is given: type the path of a folder or a file here in 'What'"

    def why_no_folder(self) -> str:
        """Why nothing can be written, with the remedy; "" where a folder is given."""
        if self.to.strip():
            return ""
        return "no folder on the destination is given: type a path in 'Goes to'"
