"""Small C sources shipped with the program, compiled on first use and cached."""

import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

import platformdirs

_TIMEOUT_S: Final = 30.0


def shared_library(source: Path) -> Path | None:
    """The library compiled from a C file; None without a compiler, or if it fails.

    It is cached under the hash of its source. Not for use inside a running event loop: the first
    call waits some tenths of a second for the compiler.
    """
    return _compiled(source, ".so", ["-shared", "-fPIC"])


def program(source: Path) -> Path | None:
    """The program compiled from a C file, with threads and libm; otherwise as `shared_library`."""
    return _compiled(source, "", ["-pthread"])


def _compiled(source: Path, suffix: str, options: list[str]) -> Path | None:
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
    name = f"{source.stem}-{os.uname().machine}-{digest}{suffix}"
    kept = platformdirs.user_cache_path("advisor") / name
    if kept.is_file():
        return kept
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    try:
        return _compile([compiler, "-O2", *options], source, kept)
    except (OSError, TimeoutError):
        return None  # An unwritable cache must not keep the advisor from running.


def _compile(command: list[str], source: Path, kept: Path) -> Path | None:
    # Imported late: needed once per host, while each end of each probe imports this module.
    import asyncio

    from advisor.hosts.processes import output_of

    kept.parent.mkdir(parents=True, exist_ok=True)
    # Compile elsewhere and move: several processes may do this at once, and none may load a partial
    # file.
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        fresh = Path(folder) / kept.name
        line = [*command, "-o", str(fresh), str(source), "-lm"]
        status, _ = asyncio.run(output_of(line, _TIMEOUT_S))
        if status:
            return None
        fresh.replace(kept)
    return kept
