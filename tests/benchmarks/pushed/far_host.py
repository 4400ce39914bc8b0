"""A host with next to nothing on it but sshd: an old system in namespaces of its own."""

import contextlib
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import psutil

from tests.benchmarks.two_hosts import DESTINATION, two_hosts

ACCOUNT: Final = "scientist"


class System(NamedTuple):
    """What debootstrap makes: the suite, its archive, and what it is called in the table."""

    suite: str
    archive: str
    title: str


_UBUNTU: Final = "http://archive.ubuntu.com/ubuntu"
_DEBIAN: Final = "http://deb.debian.org/debian"
SYSTEMS: Final = (
    System("xenial", _UBUNTU, "Ubuntu 16.04"),
    System("bionic", _UBUNTU, "Ubuntu 18.04"),
    System("focal", _UBUNTU, "Ubuntu 20.04"),
    System("bookworm", _DEBIAN, "Debian 12"),
    System("trixie", _DEBIAN, "Debian 13"),
)


def made(system: System, cache: Path) -> Path:
    """The system's folder, made once. Raises CalledProcessError."""
    root = cache / system.suite
    if not root.exists():
        cache.mkdir(parents=True, exist_ok=True)
        draft = root.with_suffix(".draft")
        shutil.rmtree(draft, ignore_errors=True)
        # Keys of releases that this host's own is too new or too old for are not there.
        command = ["debootstrap", "--variant=minbase", "--no-check-gpg"]
        command += ["--include=openssh-server", system.suite, str(draft), system.archive]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        account = ["useradd", "-m", "-s", "/bin/sh", "-p", "*", ACCOUNT]
        subprocess.run(["chroot", str(draft), *account], check=True)
        draft.rename(root)
    return root


_SERVE: Final = """
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root" &&
mount -t proc proc "$2/root/proc" && mkdir -p "$2/root/run/sshd" &&
exec chroot "$2/root" /usr/sbin/sshd -D -e -f /etc/ssh/advisor_config
"""
_CONFIG: Final = f"""
ListenAddress {DESTINATION}:22
HostKey /etc/ssh/advisor_key
AuthorizedKeysFile /etc/ssh/advisor_keys
PidFile none
UsePAM no
PasswordAuthentication no
StrictModes no
"""


class FarHost:
    """The host that is reached as `dtn` with the options in `environment`."""

    def __init__(self, base: Path, layer: Path, first: psutil.Process, source: list[str]) -> None:
        self.base = base
        self.layer = layer
        self.source = source
        self._first = first
        self._namespace = Path(f"/proc/{self._first.pid}/ns/pid").readlink()
        self._present = self.files()

    @property
    def root(self) -> Path:
        """The host's root folder, as it sees it."""
        return Path(f"/proc/{self._first.pid}/root")

    @property
    def inside(self) -> list[str]:
        """What to put before a command so that it runs there, as root."""
        return ["nsenter", "-t", str(self._first.pid), "--mount", "--pid", "--root"]

    def processes(self) -> list[psutil.Process]:
        """All but the server that listens."""
        found = []
        for one in psutil.process_iter():
            with contextlib.suppress(OSError, psutil.Error):
                inside = Path(f"/proc/{one.pid}/ns/pid").readlink() == self._namespace
                if inside and one.pid != self._first.pid and one.status() != "zombie":
                    found.append(one)
        return found

    def named(self, *words: str) -> list[psutil.Process]:
        """Those with one of the words in their command lines."""
        found = []
        for one in self.processes():
            with contextlib.suppress(psutil.Error):
                line = " ".join(one.cmdline())
                if any(word in line for word in words):
                    found.append(one)
        return found

    def files(self) -> set[str]:
        """Everything that has come into its file system, and what of the system was changed."""
        upper = self.layer / "upper"
        found = {path.relative_to(upper) for path in upper.rglob("*")}
        # A folder is copied up when something in it comes or goes.
        return {str(path) for path in found if not (self.base / path).is_dir()}

    def left(self) -> list[str]:
        """Processes and files that were not there at first."""
        lines = []
        for one in self.processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                lines.append(" ".join(one.cmdline()))
        return [*lines, *sorted(self.files() - self._present)]

    def cut(self) -> None:
        """Kill every session of the server."""
        for one in self.named("sshd"):
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()

    def links(self, state: str) -> None:
        """Take the network between the hosts `down` or `up`."""
        self.on_source("ip", "link", "set", "v0", state)

    def shaped(self, rate: str) -> None:
        """From now on the source sends at this rate, as tc has it."""
        shape = ("tbf", "rate", rate, "burst", "64kb", "latency", "50ms")
        self.on_source("tc", "qdisc", "replace", "dev", "v0", "root", *shape)

    def on_source(self, *argv: str) -> None:
        """Run a command in the source's network."""
        subprocess.run([*self.source, *argv], check=True, capture_output=True)


@contextlib.contextmanager
def far_host(base: Path, folder: Path) -> Iterator[FarHost]:
    """The system at `base`, of which nothing is changed. `folder`: for everything of this run."""
    layer = folder / "far"
    for name in ("upper", "work", "root"):
        (layer / name).mkdir(parents=True)
    _keys(folder, layer)
    with two_hosts("2gbit") as (source, destination):
        command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", _SERVE]
        server = subprocess.Popen(
            [*destination, *command, "sh", str(base), str(layer)], stderr=subprocess.DEVNULL
        )
        try:
            _wait_for_server(source)
            yield FarHost(base, layer, _first_below(server.pid), source)
        finally:
            server.send_signal(signal.SIGKILL)
            server.wait()


def _first_below(pid: int) -> psutil.Process:
    """The server that listens: the first of its names for processes."""
    for one in psutil.Process(pid).children(recursive=True):
        if one.name() == "sshd":
            return one
    raise TimeoutError("sshd has not started")


def _wait_for_server(source: list[str]) -> None:
    probe = f"exec 3<>/dev/tcp/{DESTINATION}/22"
    for _ in range(300):
        done = subprocess.run([*source, "bash", "-c", probe], capture_output=True, check=False)
        if done.returncode == 0:
            return
        time.sleep(0.1)
    raise TimeoutError("sshd does not answer")


def _keys(folder: Path, layer: Path) -> None:
    etc = layer / "upper" / "etc" / "ssh"
    etc.mkdir(parents=True)
    for path in (folder / "key", etc / "advisor_key"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)]
        subprocess.run(command, check=True)
    (etc / "advisor_config").write_text(_CONFIG)
    shutil.copy(folder / "key.pub", etc / "advisor_keys")
    (etc / "advisor_keys").chmod(0o644)
    (folder / "known_hosts").write_text(f"{DESTINATION} {(etc / 'advisor_key.pub').read_text()}")
    (folder / "ssh_config").write_text(
        f"Host dtn\n HostName {DESTINATION}\n User {ACCOUNT}\n IdentityFile {folder}/key\n"
        f" IdentitiesOnly yes\n UserKnownHostsFile {folder}/known_hosts\n"
    )
    wrapper = folder / "bin" / "ssh"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder}/ssh_config "$@"\n')
    wrapper.chmod(0o755)
