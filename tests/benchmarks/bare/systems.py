"""Minimal Debian systems: made once, and used in temporary layers."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from filelock import FileLock, Timeout

from tests.benchmarks.bare.cases import PACKAGES, USER, Case
from tests.benchmarks.bare.machine import lay_out
from tests.benchmarks.wan.hosts import ROOT, Trouble
from tests.benchmarks.wan.running import say

_ENTER: Final = Path(__file__).with_name("enter.sh")
_PROGRAMS: Final = ("unshare", "setpriv", "pivot_root", "git")
_BUNDLE: Final = Path("/mnt/advisor.bundle")
_LAYER: Final = "layer-"
_ALL_ACCOUNTS: Final = re.compile(r"^\s*0\s+0\s+4294967295$", re.MULTILINE)
_PATHS: Final = {
    "root": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "user": "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games",
}
"""As Debian's login sets it."""


def trouble() -> str:
    """Why no system can be made here, as a sentence; empty if it can."""
    # The first account of a user namespace is called root too, and may mount and make less.
    if os.geteuid() != 0 or not _ALL_ACCOUNTS.search(Path("/proc/self/uid_map").read_text()):
        return "making and entering systems needs root: run it as root"
    missing = [name for name in _PROGRAMS if not shutil.which(name)]
    return f"there is no {missing[0]} here: install it" if missing else ""


@contextlib.contextmanager
def cache(folder: Path) -> Iterator[Path]:
    """The folder, of one bench at a time; what a killed one left there is removed."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / "lock", blocking=False)
    try:
        lock.acquire()
    except Timeout:
        raise Trouble(f"another bench-bare is using {folder}") from None
    try:
        for left in (*folder.glob(f"{_LAYER}*"), *folder.glob("*.part")):
            _remove(left)
        yield folder
    finally:
        lock.release()


def base(folder: Path, system: str, mirror: str, log: Path) -> Path:
    """The system as debootstrap makes it, which nobody changes; made if it is not there."""
    made = folder / system
    if made.is_dir():
        return made
    if not shutil.which("debootstrap"):
        raise Trouble("there is no debootstrap here: apt-get install debootstrap")
    say(f"({system}) made with debootstrap, into {made}")
    part = folder / f"{system}.part"
    wanted = ["--variant=minbase", f"--include={','.join(PACKAGES)}"]
    try:
        with log.open("wb") as out:
            status = _run(["debootstrap", *wanted, system, str(part), mirror], out, 1800, None)
        if status:
            raise Trouble(f"debootstrap did not make {system}: see {log}")
        part.rename(made)
    finally:
        _remove(part)
    return made


@dataclass(frozen=True, slots=True)
class Layer:
    """A system to spoil. Every command runs in namespaces of its own, which end with it."""

    folder: Path
    base: Path
    variables: Mapping[str, str]

    def run(self, account: str, line: str, out: int, limit_s: float) -> int | None:
        """The status of a line in a shell of the account; None where it took too long."""
        home = "/root" if account == "root" else f"/home/{USER}"
        name = "root" if account == "root" else USER
        environment = dict(self.variables) | {
            "HOME": home,
            "LOGNAME": name,
            "PATH": _PATHS[account],
            "SHELL": "/bin/bash",
            "USER": name,
        }
        become = ["setpriv", f"--reuid={name}", f"--regid={name}", "--init-groups"]
        argv = [
            *("setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork"),
            *("--kill-child", "sh", str(_ENTER), str(self.folder), str(self.base)),
            *((*become, "--inh-caps=-all") if account != "root" else ()),
            *("env", "-i", *(f"{key}={value}" for key, value in sorted(environment.items()))),
            *("sh", "-c", f"cd {shlex.quote(home)} && {line}"),
        ]
        return _run(argv, out, limit_s, dict(os.environ) | {"PATH": _PATHS["root"]})


@contextlib.contextmanager
def layer(folder: Path, made: Path, case: Case, variables: Mapping[str, str]) -> Iterator[Layer]:
    """The system for one case, with this checkout's last commit at hand; gone afterwards."""
    mine = Path(tempfile.mkdtemp(prefix=f"{_LAYER}{case.key}-", dir=folder))
    mine.chmod(0o755)
    try:
        root = mine / "root"
        if _can_overlay(mine, made):
            root.mkdir()
            for name in ("upper", "work"):
                (mine / name).mkdir(mode=0o755)
            top = mine / "upper"
        else:
            subprocess.run(["cp", "-a", str(made), str(root)], check=True)
            top = root
        bundle = top / _BUNDLE.relative_to("/")
        bundle.parent.mkdir(exist_ok=True)
        subprocess.run(
            ["git", "-C", str(ROOT), "bundle", "create", "--quiet", str(bundle), "HEAD"], check=True
        )
        bundle.chmod(0o644)
        bound = lay_out(top, variables)
        (mine / "binds").write_text("".join(f"{path}\n" for path in bound))
        yield Layer(mine, made, variables)
    finally:
        _remove(mine)


CLONE: Final = (
    f"git -c advice.detachedHead=false -c init.defaultBranch=main clone --quiet {_BUNDLE} advisor"
)


def _can_overlay(folder: Path, made: Path) -> bool:
    """Whether a layer in the folder can lie on the base: not where the folder is in one itself."""
    trial = folder / "trial"
    for name in ("upper", "work", "root"):
        (trial / name).mkdir(parents=True)
    options = f"lowerdir={made},upperdir={trial}/upper,workdir={trial}/work"
    done = subprocess.run(
        [
            "unshare",
            "--mount",
            "mount",
            "-t",
            "overlay",
            "-o",
            options,
            "bare",
            str(trial / "root"),
        ],
        capture_output=True,
        check=False,
    )
    _remove(trial)
    return done.returncode == 0


def _run(
    argv: Sequence[str], out: IO[bytes] | int, limit_s: float, environment: dict[str, str] | None
) -> int | None:
    """Its status, None where it was ended for its time; nothing of it is left on any way out."""
    process = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=subprocess.STDOUT,
        env=environment,
        start_new_session=True,
    )
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _remove(folder: Path) -> None:
    """Also where the last processes of a system are still about to end."""
    for _ in range(20):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.5)
    raise Trouble(f"{folder} cannot be removed")
