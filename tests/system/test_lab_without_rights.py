"""What a lab needs of an account and of a machine, and what it says where that is missing."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from .lab_traces import host_untouched
from .labs import MODEST
from .program import ADVISOR, children_left, own_environment, wait_until


@pytest.fixture(autouse=True)
def untouched() -> Iterator[None]:
    with host_untouched():
        yield


@pytest.mark.as_root
def test_without_a_compiler(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("ip", "nsenter", "unshare", "mount"):
        (tools / tool).symlink_to(str(shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin")))
    done = subprocess.run(
        [*ADVISOR, "lab", "up", "wan"],
        env=own_environment(tmp_path) | {"PATH": str(tools)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2
    assert "apt-get install gcc libc6-dev" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "advisor" / "lab" / "wan").exists()


def as_nobody(home: Path, device: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`advisor` as a user without any rights, in a mount namespace with this /dev/net/tun."""
    prepare = f'mount -t tmpfs none {home}/dev && {device} exec "$@"'
    drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    # setpriv itself still may do more than what it starts: a shell has lost that.
    drop += ["sh", "-c", 'exec "$@"', "sh"]
    return subprocess.run(
        ["unshare", "-m", "sh", "-c", prepare, "sh", *drop, *ADVISOR, *arguments],
        cwd="/",
        env=own_environment(home)
        | {"XDG_CACHE_HOME": str(home / "cache"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


NO_DEVICE = ""


OWN_DEVICE = "mknod -m 666 {home}/dev/tun c 10 200 && mount --bind {home}/dev/tun /dev/net/tun &&"


@pytest.fixture
def nobodys_home(tmp_path: Path) -> Iterator[Path]:
    """A folder of nobody's own. Skips where nobody cannot run this checkout."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to be somebody else")
    home = Path(f"/tmp/adv-nobody-{os.getpid()}")
    (home / "dev").mkdir(parents=True)
    try:
        os.chown(home, 65534, 65534)
        looked = as_nobody(home, NO_DEVICE, "--version")
        if looked.returncode:
            pytest.skip(f"nobody cannot run this checkout: {looked.stderr.strip()[-200:]}")
        yield home
    finally:
        shutil.rmtree(home)


@pytest.mark.as_root
def test_without_any_rights(nobodys_home: Path) -> None:
    device = OWN_DEVICE.format(home=nobodys_home)
    try:
        up = as_nobody(nobodys_home, device, "lab", "up", "wan", *MODEST, "--json")
        assert up.returncode == 0, up.stderr
        assert json.loads(up.stdout)["user_namespace"] is True
        mine = as_nobody(nobodys_home, device, "lab", "exec", "wan", "--", "id", "-u")
        assert mine.stdout == "65534\n"
        addresses = as_nobody(nobodys_home, device, "lab", "exec", "wan", "--", "ip", "addr")
        assert "10.77.0.1/32" in addresses.stdout
        run = as_nobody(nobodys_home, device, *("advise", "lab:wan", "--json", "--budget", "7"))
        assert run.returncode == 0, run.stderr
    finally:
        down = as_nobody(nobodys_home, device, "lab", "down", "wan")
    assert down.returncode == 0, down.stderr
    assert wait_until(lambda: not children_left(nobodys_home))


@pytest.mark.as_root
def test_without_rights_and_without_a_device(nobodys_home: Path) -> None:
    if os.access("/dev/net/tun", os.W_OK) and Path("/dev/net/tun").stat().st_mode & 0o006 == 0o006:
        pytest.skip("everybody may open /dev/net/tun here")
    up = as_nobody(nobodys_home, NO_DEVICE, "lab", "up", "wan", *MODEST)
    assert up.returncode == 2
    assert "/dev/net/tun" in up.stderr
    assert "sudo" in up.stderr
    assert len(up.stderr.splitlines()) == 1
    assert not (nobodys_home / "advisor" / "lab" / "wan").exists()
