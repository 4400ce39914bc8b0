"""Adds man pages and completions to the wheel, where `make package` has written them before."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):
    """See the module's text."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Below share/ of where the wheel is installed."""
        share = Path(self.root, "build/share")
        if not share.is_dir():
            return
        place = "shared_data" if self.target_name == "wheel" else "force_include"
        below = "share" if self.target_name == "wheel" else "build/share"
        for path in sorted(share.rglob("*")):
            if path.is_file():
                build_data.setdefault(place, {})[str(path)] = f"{below}/{path.relative_to(share)}"
