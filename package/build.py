"""Builds what is handed out, into dist/: `python -m package.build`, as `make package` runs it.

A source archive and a wheel, with man pages and completions; packages for Debian, Ubuntu and
Enterprise Linux, each for the Python of its system. The same commit gives the same bytes: all times
are SOURCE_DATE_EPOCH, by default that of the commit, and all versions and hashes are uv.lock's.
"""

import gzip
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import advisor
from advisor.cli.commands import completion_script
from advisor.report.output import say
from package import man

ROOT: Final = Path(__file__).parents[1]
DIST: Final = ROOT / "dist"
BUILD: Final = ROOT / "build"
SHARE: Final = BUILD / "share"
NAME: Final = "data-transfer-advisor"
HOME: Final = f"/opt/{NAME}"
NFPM: Final = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.0"

_COMPLETIONS: Final = {
    "bash": "bash-completion/completions/advisor",
    "zsh": "zsh/site-functions/_advisor",
    "fish": "fish/vendor_completions.d/advisor.fish",
}
# What is of no use to a program that runs: tests, types, headers, what compiles extensions.
_LEFT_OUT: Final = (
    *("**/tests", "**/*.pyi", "bin", "share"),
    *("numpy/_core/include", "numpy/_core/lib", "numpy/f2py", "numpy/distutils"),
)
# Hundreds of modules of which a start loads a few at most.
_NOT_COMPILED: Final = "/pygments/(lexers|styles)/|/pydantic/v1/"
_STARTS: Final = f"""\
#!{HOME}/bin/python3
from advisor.cli.start import main
main()
"""


@dataclass(frozen=True)
class Target:
    """A system: the format of its packages, its Python, and what else it needs of them."""

    system: str
    packager: str
    python: str
    depends: tuple[str, ...]
    recommends: tuple[str, ...]


_MORE: Final = ("fio", "iproute2", "openssh-client")
TARGETS: Final = (
    Target("debian12", "deb", "3.11", ("python3.11", "libiperf0", "libudt0"), _MORE),
    Target("debian13", "deb", "3.13", ("python3.13", "libiperf0", "libudt0"), _MORE),
    Target("ubuntu24.04", "deb", "3.12", ("python3.12", "libiperf0", "libudt0v5"), _MORE),
    Target("el9", "rpm", "3.11", ("python3.11", "iperf3"), ("udt", "fio", "openssh-clients")),
)


def main() -> None:
    """Build everything; what cannot be built here is said."""
    os.umask(0o022)
    seconds = int(os.environ.setdefault("SOURCE_DATE_EPOCH", _commit_time()))
    shutil.rmtree(BUILD, ignore_errors=True)
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    _share(seconds)
    _run([_uv(), "build", "--quiet", "--out-dir", str(DIST), "--no-sources", str(ROOT)])
    [wheel] = DIST.glob("*.whl")
    if nfpm := _nfpm():
        for target in TARGETS:
            _package(target, wheel, nfpm, seconds)
    else:
        say("no deb and rpm: neither nfpm nor Go, which builds it, is installed here")
    (DIST / ".gitignore").unlink(missing_ok=True)
    for file in sorted(DIST.iterdir()):
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        say(f"{digest}  {file.stat().st_size / 1e6:6.1f} MB  {file.name}")


def _commit_time() -> str:
    done = subprocess.run(
        ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"], capture_output=True, text=True
    )
    return done.stdout.strip() or "1767225600"


def _share(seconds: int) -> None:
    """What goes below /usr/share: man pages, compressed without a time, and completions."""
    folder = SHARE / "man/man1"
    for page in man.write(folder, seconds):
        packed = gzip.compress(page.read_bytes(), 9, mtime=0)
        page.with_name(f"{page.name}.gz").write_bytes(packed)
        page.unlink()
    for shell, name in _COMPLETIONS.items():
        path = SHARE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(completion_script(shell) + "\n")


def _package(target: Target, wheel: Path, nfpm: str, seconds: int) -> None:
    tree = BUILD / target.system
    _environment(target, wheel, tree)
    settings = BUILD / f"{target.system}.json"
    settings.write_text(json.dumps(nfpm_settings(target, tree, seconds), indent=1))
    made = DIST / file_name(target)
    _run([nfpm, "package", "-f", str(settings), "-p", target.packager, "-t", str(made)])


def _environment(target: Target, wheel: Path, tree: Path) -> None:
    """A virtual environment for a Python that need not be here: its packages alone are."""
    site = tree / f"lib/python{target.python}/site-packages"
    site.mkdir(parents=True)
    locked = BUILD / "locked.txt"
    exported = ["export", "--quiet", "--frozen", "--no-dev", "--no-emit-project"]
    _run([_uv(), *exported, "--project", str(ROOT), "-o", str(locked)])
    install = [
        *(_uv(), "pip", "install", "--quiet", "--target", str(site), "--link-mode", "copy"),
        *("--python-version", target.python, "--no-config"),
        *("--python-platform", f"{platform.machine()}-manylinux_2_28"),
    ]
    _run([*install, "--require-hashes", "-r", str(locked)])
    _run([*install, "--no-deps", str(wheel)])
    for pattern in _LEFT_OUT:
        for path in list(site.glob(pattern)):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in [*site.glob("*.dist-info/*"), site / ".lock"]:
        # Of where and when it was installed: another folder would give other bytes.
        if path.name in ("direct_url.json", "uv_cache.json", "INSTALLER", "RECORD", ".lock"):
            path.unlink(missing_ok=True)
    (tree / "bin").mkdir()
    (tree / "bin/advisor").write_text(_STARTS)
    (tree / "bin/advisor").chmod(0o755)
    (tree / "pyvenv.cfg").write_text(
        f"home = /usr/bin\ninclude-system-site-packages = false\nversion = {target.python}\n"
    )


def nfpm_settings(target: Target, tree: Path, seconds: int) -> dict[str, Any]:
    """What nfpm reads. Python's bytecode is made where the package is installed."""
    python = f"/usr/bin/python{target.python}"
    for name, text in scripts(python).items():
        (BUILD / name).write_text(text)
    return {
        "name": NAME,
        "arch": _architecture(),
        "platform": "linux",
        "version": advisor.__version__,
        "release": "1",
        "section": "net",
        "maintainer": "advisor maintainers <advisor@localhost>",
        "description": "Measures a network path and hands over command lines for transfers",
        "license": "Apache-2.0",
        "mtime": _iso(seconds),
        "depends": list(target.depends),
        "recommends": list(target.recommends),
        "contents": [
            {"src": f"{tree}/", "dst": HOME, "type": "tree"},
            {"src": python, "dst": f"{HOME}/bin/python3", "type": "symlink"},
            {"src": f"{HOME}/bin/advisor", "dst": "/usr/bin/advisor", "type": "symlink"},
            {"src": f"{SHARE}/", "dst": "/usr/share", "type": "tree"},
        ],
        "scripts": {
            "postinstall": str(BUILD / "postinstall"),
            "preremove": str(BUILD / "preremove"),
        },
        "rpm": {"compression": "gzip", "buildhost": "localhost"},
    }


def scripts(python: str) -> dict[str, str]:
    """What runs after the installation and before the removal.

    rpm calls the latter after an upgrade too, with 1: what is there then is the new version's.
    """
    site = f"{HOME}/lib"
    return {
        "postinstall": (
            f"#!/bin/sh\nset -e\n{python} -m compileall -q -x '{_NOT_COMPILED}' {site} || :\n"
        ),
        "preremove": (
            "#!/bin/sh\nset -e\n"
            '[ "${1:-}" != 1 ] || exit 0\n'
            f"find {site} -name __pycache__ -type d -prune -exec rm -rf {{}} + || :\n"
        ),
    }


def file_name(target: Target) -> str:
    """The name of the package in dist/, with its system: a name of the format has none."""
    if target.packager == "deb":
        return f"{NAME}_{advisor.__version__}-1_{target.system}_{_architecture()}.deb"
    return f"{NAME}-{advisor.__version__}-1.{target.system}.{platform.machine()}.rpm"


def _architecture() -> str:
    """As Debian calls it; nfpm translates it for rpm."""
    machine = platform.machine()
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine)


def _iso(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _uv() -> str:
    return str(Path(sys.executable).with_name("uv"))


def _nfpm() -> str | None:
    """nfpm: found, or built with Go, whose checksum database proves what it downloads."""
    if found := shutil.which("nfpm"):
        return found
    if not shutil.which("go"):
        return None
    folder = ROOT / ".venv/nfpm"
    if not (folder / "nfpm").exists():
        environment = os.environ | {"GOBIN": str(folder), "GOFLAGS": "-modcacherw"}
        subprocess.run(["go", "install", NFPM], check=True, env=environment)
    return str(folder / "nfpm")


def _run(argv: Sequence[str]) -> None:
    subprocess.run(argv, check=True)


if __name__ == "__main__":
    main()
