"""A checkout for an ordinary user, which only that user's stages see."""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .holder import ACCOUNT, CHECKOUT, HOME

_HOLDER = Path(__file__).with_name("holder.py")
# Set up as root, before /root may be hidden: the packages come from root's cache.
_MAKE_ENVIRONMENT = f"""
set -e
mount --rbind "$1" /tmp
cd {CHECKOUT}
export VIRTUAL_ENV={CHECKOUT}/.venv
"$2" -m venv --without-pip .venv
mv /tmp/uv .venv/bin/uv
.venv/bin/uv sync --quiet --frozen --inexact --active
touch .venv/.runtime .venv/.dev
"""


# What tests do beside each other delays a packet by less than makes another path of it, 2 ms.
# A kernel without tbf has the tests at full speed.
PACE = "tc qdisc add dev lo root tbf rate 1gbit burst 256kb limit 256kb"
_APART = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]


def paced(command: list[str]) -> list[str]:
    """The line by which root runs a command in a network of its own, whose loopback is paced."""
    return ["unshare", "--net", *_with_loopback(is_paced=True), *command]


def _with_loopback(is_paced: bool) -> list[str]:
    pace = f"{PACE}; " if is_paced else ""
    return ["sh", "-c", f'ip link set lo up && {pace}exec "$@"', "sh"]


def why_not() -> str | None:
    """Why root may make no namespaces, as in most containers; nothing where it may."""
    try:
        done = subprocess.run([*_APART, "true"], capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    return (done.stderr.strip() or "unshare failed") if done.returncode else None


class Ordinary:
    """What has to be there so that `nobody` runs tests: gone after `close`."""

    def __init__(self) -> None:
        """Nothing is made yet: see `make`."""
        # Others must not come here, for whom /tmp is another: it holds a device.
        self._base = Path(tempfile.mkdtemp(prefix="advisor-tests-"))
        self.folder = self._base / "tmp"
        self._python = Path(sys.base_prefix).resolve()

    def make(self) -> None:
        """Copy the working tree and set up an environment in it. Raises CalledProcessError."""
        account = pwd.getpwnam(ACCOUNT)
        self.folder.mkdir()
        self.folder.chmod(0o1777)
        checkout, home = (self.folder / path.name for path in (CHECKOUT, HOME))
        for folder in (checkout, home):
            folder.mkdir(mode=0o755)
        for file in _working_tree():
            target = checkout / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target, follow_symlinks=False)
        shutil.copy2(".venv/bin/uv", self.folder / "uv")
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        python = str(self._python / "bin" / version)
        script = ["sh", "-c", _MAKE_ENVIRONMENT, "sh", str(self.folder), python]
        environment = {k: v for k, v in os.environ.items() if k != "VIRTUAL_ENV"}
        subprocess.run(["unshare", "--mount", *script], check=True, env=environment)
        # The packages' files may be those of root's cache under another name: they stay root's.
        for top, folders, files in os.walk(checkout):
            within_environment = ".venv" in Path(top).relative_to(checkout).parts
            for name in [*folders, *(() if within_environment else files)]:
                os.chown(Path(top, name), account.pw_uid, account.pw_gid, follow_symlinks=False)
        for folder in (checkout, home):
            os.chown(folder, account.pw_uid, account.pw_gid)

    def held(self, report: Path, command: list[str], is_paced: bool = False) -> list[str]:
        """The line that runs a command as that user, in namespaces of its own."""
        hold = [sys.executable, str(_HOLDER), str(report)]
        own = ["--ordinary", str(self.folder), str(self._python)]
        # The kernel lets nobody send an ICMP echo in a new network: a host may be set otherwise.
        return [*_APART, *_with_loopback(is_paced), *hold, *own, "--", *command]

    def close(self) -> None:
        shutil.rmtree(self._base, ignore_errors=True)


def _working_tree() -> list[str]:
    """Files of the checkout, committed or not; all but what make and the tools put there."""
    listed = ["git", "-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard", "-z"]
    try:
        done = subprocess.run(listed, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return [
            str(path)
            for path in Path().rglob("*")
            if path.is_file() and path.parts[0] not in (".venv", ".git", "dist", "build")
        ]
    names = dict.fromkeys(done.stdout.split("\0"))
    return [name for name in names if name and (Path(name).is_file() or Path(name).is_symlink())]
