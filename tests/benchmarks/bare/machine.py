"""What a bare system takes from this machine: its package sources."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_PASSED_ON: Final = re.compile(
    r"(?i)(https?|ftp|all|no)_proxy|(PIP|UV|SSL|CURL|REQUESTS|GIT_SSL)_\w+"
)
_NOT_PASSED_ON: Final = re.compile(r"UV_(PYTHON|PROJECT|CACHE)\w*|PIP_(TARGET|PREFIX|USER)")
_APT: Final = re.compile(r'Acquire::(https?::|ftp::|Retries|ForceIPv|Check-)\S* ".+";')
_ALWAYS: Final = (
    "/etc/hosts",
    "/etc/pip.conf",
    "/etc/resolv.conf",
    "/etc/ssl/certs",
    "/etc/uv/uv.toml",
)


def passed_on(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables by which pip, uv and apt find their packages here."""
    return {
        name: value
        for name, value in environment.items()
        if _PASSED_ON.fullmatch(name) and not _NOT_PASSED_ON.fullmatch(name)
    }


def named_paths(variables: Mapping[str, str]) -> list[Path]:
    """The files and folders of this machine that the variables name."""
    words = {word for value in variables.values() for word in value.split()}
    return [Path(word) for word in sorted(words) if word.startswith("/") and Path(word).exists()]


def apt_settings() -> str:
    """How apt here reaches its servers: proxies and the like."""
    try:
        done = subprocess.run(
            ["apt-config", "dump"], capture_output=True, text=True, check=False, timeout=30
        )
    except FileNotFoundError:
        return ""
    return "".join(f"{line}\n" for line in done.stdout.splitlines() if _APT.fullmatch(line))


def lay_out(root: Path, variables: Mapping[str, str]) -> list[Path]:
    """Copy into the system at `root` what it needs of /etc; the paths that are to be bound.

    What is below /etc is copied, since packages write there; the rest is only looked at.
    """
    named = {*named_paths(variables), *map(Path, _ALWAYS)}
    bound = []
    for path in sorted(named):
        if not path.exists():
            continue
        if path.is_relative_to("/etc"):
            _copy(path, root / path.relative_to("/"))
        else:
            bound.append(path)
    if settings := apt_settings():
        folder = root / "etc/apt/apt.conf.d"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "90this-machine").write_text(settings)
    return bound


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(
            source,
            target,
            copy_function=_put,
            ignore_dangling_symlinks=True,
            dirs_exist_ok=True,
        )
    else:
        _put(source, target)


def _put(source: str | Path, target: str | Path) -> None:
    """In the place of what is there: a link of the system would lead out of it."""
    Path(target).unlink(missing_ok=True)
    shutil.copyfile(source, target)
