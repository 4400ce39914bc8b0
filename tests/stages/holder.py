"""Runs one command of a stage, and says which processes outlive it. These are then killed.

    python holder.py REPORT [--ordinary FOLDER PREFIX] -- COMMAND…

Orphans below it become its own children, as those of an init do; so none gets lost. With
`--ordinary` it is the init of a PID namespace, as root, and the command runs as `nobody` without
capabilities, with FOLDER as its /tmp. Only the standard library, and no import later on: where
this file and the checkout are may be hidden by then.
"""

import contextlib
import ctypes
import json
import os
import pwd
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_GRACE_S = 10.0
_TUN = Path("/dev/net/tun")
ACCOUNT = "nobody"
CHECKOUT = Path("/tmp/checkout")
HOME = Path("/tmp/home")


def main(words: list[str]) -> int:
    report, *options = words[: words.index("--")]
    command = words[words.index("--") + 1 :]
    signal.signal(signal.SIGTERM, _end)
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    environment = dict(os.environ)
    held = os.open(report, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    if options:
        _, folder, prefix = options
        enter(Path(folder), Path(prefix))
        command, environment = as_ordinary_user(command)
        os.chdir(CHECKOUT)
    status = _run(command, environment)
    left = _left()
    os.write(held, json.dumps([status, left]).encode())
    _kill_all()
    return 0


def _run(command: list[str], environment: dict[str, str]) -> int:
    """Its exit status, negative for a signal."""
    child = os.posix_spawnp(command[0], command, environment)
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child:
            return os.waitstatus_to_exitcode(status)


def _left() -> list[str]:
    """Command lines of what still runs after some time to end by itself."""
    deadline = time.monotonic() + _GRACE_S
    while (left := list(_descendants())) and time.monotonic() < deadline:
        _reap()
        time.sleep(0.05)
    return [line for _, line in left]


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _descendants() -> Iterator[tuple[int, str]]:
    """Process ids and command lines of all below this process."""
    _reap()
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                after_name = (entry / "stat").read_text().rpartition(")")[2]
                parents[int(entry.name)] = int(after_name.split()[1])
    for pid in parents:
        above = pid
        while above in parents and above != os.getpid():
            above = parents[above]
        if above == os.getpid() != pid:
            with contextlib.suppress(OSError):
                line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
                yield pid, line.decode(errors="replace").strip() or f"process {pid}"


def _kill_all() -> None:
    while found := list(_descendants()):
        for pid, _ in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def _end(*_: object) -> None:
    _kill_all()
    os._exit(128 + signal.SIGTERM)


def enter(folder: Path, prefix: Path) -> None:
    """Change what this mount namespace shows: see the module."""
    kept = folder / "python"
    kept.mkdir(exist_ok=True)
    _mount("--bind", prefix, kept)
    _mount("--rbind", folder, "/tmp")
    if closed := first_closed(prefix):
        _mount("-t", "tmpfs", "-o", "mode=755", "none", closed)
    if not prefix.exists():
        prefix.mkdir(parents=True)
        _mount("--bind", "/tmp/python", prefix)
    _replace("/etc/passwd", _accounts())
    if Path("/etc/nsswitch.conf").exists():
        _replace("/etc/nsswitch.conf", _name_services())
    # As every distribution has it; without a udev it may be root's alone.
    if _TUN.exists() and _TUN.stat().st_mode & 0o006 != 0o006:
        own = Path("/tmp/tun")
        if not own.exists():
            os.mknod(own, 0o020666, _TUN.stat().st_rdev)
            own.chmod(0o666)
        _mount("--bind", own, _TUN)


def _accounts() -> Iterator[str]:
    """Of /etc/passwd, with a home and a shell for the account."""
    for line in Path("/etc/passwd").read_text().splitlines(keepends=True):
        name, *fields = line.rstrip("\n").split(":")
        if name == ACCOUNT and len(fields) == 6:
            line = ":".join([name, *fields[:4], str(HOME), "/bin/sh"]) + "\n"
        yield line


def _name_services() -> Iterator[str]:
    """Passwords from /etc/shadow alone, which the account may not read: nss-systemd would say
    that it is locked, and sshd let nobody in.
    """
    for line in Path("/etc/nsswitch.conf").read_text().splitlines(keepends=True):
        yield "shadow: files\n" if line.startswith("shadow:") else line


def _replace(file: str, lines: Iterable[str]) -> None:
    own = Path("/tmp", Path(file).name)
    own.write_text("".join(lines))
    own.chmod(0o644)
    _mount("--bind", own, file)


def first_closed(path: Path) -> Path | None:
    """The first folder on the way to it that others may not pass."""
    for folder in [*reversed(path.parents), path]:
        if folder.exists() and not folder.stat().st_mode & 0o001:
            return folder
    return None


def as_ordinary_user(command: list[str]) -> tuple[list[str], dict[str, str]]:
    """The line and the environment that run it with no right beyond an ordinary user's."""
    group = pwd.getpwnam(ACCOUNT).pw_gid
    drop = ["setpriv", f"--reuid={ACCOUNT}", f"--regid={group}", "--clear-groups"]
    drop += ["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", "--"]
    # setpriv itself may still do more than what it starts: a shell has lost that.
    environment = {
        "PATH": f"{CHECKOUT}/.venv/bin:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(HOME),
        "USER": ACCOUNT,
        "LOGNAME": ACCOUNT,
        "LANG": os.environ.get("LANG", "C.UTF-8"),
    }
    return [*drop, "sh", "-c", 'exec "$@"', "sh", *command], environment


def _mount(*words: str | Path) -> None:
    subprocess.run(["mount", *map(str, words)], check=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
