"""Attacks on labs: state that another user planted, and state that lies."""

import contextlib
import fcntl
import json
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from advisor.hosts.private_folders import runtime_folder
from advisor.lab.state import LabError, LabFolder, labs, state_of

from .conftest import give_away


def planted(folder: Path, network: str, **changes: Any) -> Path:
    """A lab's folder as `advisor lab up` leaves it, in which a supervisor seems to live."""
    folder.mkdir(parents=True, mode=0o700)
    host = {"name": "source", "address": "10.77.0.1", "network": network}
    state = {
        "name": folder.name,
        "mark": "planted",
        "keeper": os.getpid(),
        "user_namespace": False,
        "backend": "own emulator",
        "hosts": [host, host | {"name": "far"}],
    }
    (folder / "lab.json").write_text(json.dumps(state | changes))
    (folder / "keeper.lock").touch()
    return folder


@contextlib.contextmanager
def supervised(folder: Path) -> Iterator[None]:
    """This process holds the lock and listens, as a supervisor does."""
    with (folder / "keeper.lock").open() as lock, socket.socket(socket.AF_UNIX) as control:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with contextlib.chdir(folder):
            control.bind("control")
        control.listen()
        yield


def own(number: int = 3) -> str:
    return f"/proc/{os.getpid()}/fd/{number}"


def test_a_lab_that_a_stranger_planted_is_not_seen(no_variables: Path) -> None:
    """Who entered it ran a shell of the stranger's, in the mount namespace that the stranger
    named."""
    folder = no_variables / f"advisor-{os.getuid()}" / "lab" / "wan"
    planted(folder, own())
    give_away(no_variables / f"advisor-{os.getuid()}")
    with supervised(folder):
        assert "wan" not in [place.name for place in labs()]
        assert LabFolder("wan").read() is None
        with pytest.raises(LabError, match="no lab 'wan' is up"):
            state_of("wan")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LabFolder:
    monkeypatch.setenv("ADVISOR_RUNTIME_DIR", str(tmp_path / "run"))
    runtime_folder("lab")
    return LabFolder("wan")


def test_the_supervisor_is_who_listens_whatever_the_file_says(place: LabFolder) -> None:
    planted(place.folder, own(), keeper=1, supervisor=1)
    with supervised(place.folder):
        assert state_of("wan").supervisor == os.getpid()


def test_a_lab_in_which_nobody_listens_is_not_entered(place: LabFolder) -> None:
    planted(place.folder, own())
    with supervised(place.folder):
        place.control.unlink()
        with pytest.raises(LabError, match="lab wan does not answer"):
            state_of("wan")


@pytest.mark.parametrize(
    "network", ["/proc/1/ns/net", "/proc/1/fd/3", "/proc/self/fd/../ns/net", "/etc/passwd"]
)
def test_a_network_that_is_not_the_supervisors_is_refused(place: LabFolder, network: str) -> None:
    planted(place.folder, network)
    with supervised(place.folder), pytest.raises(LabError, match="no lab 'wan' is up"):
        state_of("wan")


def test_taking_a_lab_down_ends_nothing_outside_of_it(place: LabFolder) -> None:
    own_network = [] if os.geteuid() == 0 else ["--user"]
    program = "exec 9</proc/self/ns/net; echo; exec sleep 60"
    victim = subprocess.Popen(
        ["unshare", *own_network, "--net", "sh", "-c", program], stdout=subprocess.PIPE
    )
    try:
        assert victim.stdout is not None
        with victim.stdout as printed:
            if not printed.readline():
                pytest.skip("this machine lets nobody make a network namespace")
        planted(place.folder, f"/proc/{victim.pid}/fd/9")
        with supervised(place.folder):
            place.remove()
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.wait()
    assert not place.folder.exists()


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000,
        b'{"hosts":' + b"[" * 100_000,
        b'{"hosts":[' + b"{}," * 10_000 + b"{}]}",
        b" " * (4 << 20),
        b"\xff\xfe",
        b'{"name":1e999}',
    ],
    ids=["nested", "nested hosts", "many hosts", "long", "no text", "huge number"],
)
def test_a_file_that_is_no_state_is_no_lab(place: LabFolder, content: bytes) -> None:
    planted(place.folder, own())
    (place.folder / "lab.json").write_bytes(content)
    with supervised(place.folder):
        assert place.read() is None
        with pytest.raises(LabError, match="no lab 'wan' is up"):
            state_of("wan")


def test_a_link_for_a_state_or_a_log_is_not_followed(place: LabFolder, tmp_path: Path) -> None:
    elsewhere = planted(tmp_path / "elsewhere", own())
    planted(place.folder, own())
    (tmp_path / "log").write_text("the last line of somebody's file")
    place.log.symlink_to(tmp_path / "log")
    (place.folder / "lab.json").unlink()
    (place.folder / "lab.json").symlink_to(elsewhere / "lab.json")
    with supervised(place.folder):
        assert place.read() is None
    assert place.last_words() == ""
