"""Paths of this host as they are typed, where `~` is a home directory."""

from pathlib import Path

from advisor.hosts.checksums import reason_of


def existing_path(text: str) -> Path:
    """An absolute path that exists on this host. Raises ValueError."""
    try:
        path = Path(text).expanduser()
    except RuntimeError:
        raise ValueError("there is no such home directory: write an absolute path") from None
    if not path.is_absolute():
        raise ValueError("write an absolute path, starting with / or ~")
    try:
        exists = path.exists()
    except OSError as error:
        # Of a folder that may not be read, or with a name that is too long.
        reason = reason_of(error).lower()
        raise ValueError(f"this host cannot look for it ({reason}): check the path") from None
    if not exists:
        raise ValueError("there is no such file or directory on this host: check the path")
    return path


def in_full(text: str) -> str:
    """The path without `~`; as it is typed where that is no home directory, which a field says."""
    try:
        return str(Path(text).expanduser())
    except (RuntimeError, ValueError):
        return text
