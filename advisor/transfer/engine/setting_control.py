"""Sets how file groups are moved, and returns to a setting that worked where one does not."""

from advisor.domain.space import Setting, concurrency_of, parallelism_of
from advisor.transfer.engine.file_group import FileGroup


class SettingControl:
    """`refusal`: why nothing got through at the setting that was set last, "" if something did."""

    def __init__(self) -> None:
        self.refusal = ""
        self._fallback: tuple[FileGroup, Setting] | None = None

    def apply(self, group: FileGroup, setting: Setting, fallback: Setting | None = None) -> None:
        """Move the group at this setting from now on.

        `fallback`: a setting to return to where nothing gets through at this one.
        """
        self.refusal = ""
        self._fallback = None if fallback is None else (group, fallback)
        _apply(group, setting)

    def fall_back(self, message: str) -> bool:
        """Nothing gets through, as `message` says: return to the fallback, if there is one."""
        if self._fallback is None:
            return False
        (group, setting), self._fallback = self._fallback, None
        self.refusal = message
        _apply(group, setting)
        return True


def _apply(group: FileGroup, setting: Setting) -> None:
    group.parallelism = parallelism_of(setting)
    group.concurrency = concurrency_of(setting)
