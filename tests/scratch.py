"""Scratch folders of an advisor with names that tests know."""

from pathlib import Path

from advisor.hosts.scratch import MARK


def marked(folder: Path) -> Path:
    """The folder, made if it is missing, as the agent makes it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARK).write_text(folder.name)
    return folder
