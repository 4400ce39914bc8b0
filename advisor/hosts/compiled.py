"""Small C sources shipped with the program, compiled on first use and cached.

The cache is a private folder: what is in it is run with all rights of this account.
"""

import hashlib
import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import Final

import platformdirs

from advisor.hosts.private_folders import NotPrivate, private_folder

_TIMEOUT_S: Final = 30.0


def shared_library(source: Path) -> Path | None:
    """The library compiled from a C file; None without a compiler or a cache, or if it fails.

    It is cached under the hash of its source, where nobody else can change it. Not for use inside a
    running event loop: the first call waits some tenths of a second for the compiler.
    """
    return _compiled(source, ".so", ["-shared", "-fPIC"])


def program(source: Path) -> Path | None:
    """The program compiled from a C file, with threads and libm; otherwise as `shared_library`."""
    return _compiled(source, "", ["-pthread"])


def _compiled(source: Path, suffix: str, options: list[str]) -> Path | None:
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
    name = f"{source.stem}-{os.uname().machine}-{digest}{suffix}"
    try:
        kept = private_folder(_folder()) / name
        if _is_ours(kept):
            return kept
        compiler = shutil.which("cc")
        return _compile([compiler, "-O2", *options], source, kept) if compiler else None
    except (OSError, TimeoutError, NotPrivate):
        return None  # An unwritable or shared cache must not keep the advisor from running.


def _folder() -> Path:
    return Path(os.path.realpath(platformdirs.user_cache_path("advisor"))) / "compiled"


def _is_ours(kept: Path) -> bool:
    """Whether it is a file that this account alone has written."""
    try:
        status = kept.lstat()
    except FileNotFoundError:
        return False
    is_own = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
    return is_own and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _compile(command: list[str], source: Path, kept: Path) -> Path | None:
    # Imported late: needed once per host, while each end of each probe imports this module.
    import asyncio

    from advisor.hosts.processes import output_of

    # Compile elsewhere and move: several processes may do this at once, and none may load a partial
    # file.
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        fresh = Path(folder) / kept.name
        line = [*command, "-o", str(fresh), str(source), "-lm"]
        status, _ = asyncio.run(output_of(line, _TIMEOUT_S))
        if status:
            return None
        fresh.chmod(stat.S_IRWXU)  # Compilers leave it to the umask.
        fresh.replace(kept)
    return kept
