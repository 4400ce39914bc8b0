"""What the program asks the system for, where it may not install it by itself."""

import contextlib
import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

from advisor.hosts.packages import System, installation

SCRIPT = Path(__file__).parents[2] / "scripts/system-packages"


def _asked_for(folder: Path, what: str) -> list[str]:
    """The packages of the line that an ordinary user gets on a system with next to nothing."""
    folder.mkdir()
    for name, body in {"id": "echo 1000", "apt-get": "exit 1", "cc": "exit 1"}.items():
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)
    environment = {"PATH": str(folder), "PYTHON": "no-python"}
    done = subprocess.run(
        ["/bin/sh", str(SCRIPT), what], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    said = [line for line in done.stderr.splitlines() if "not found" not in line]
    assert said[0] == "Run this once as root, then try again:"
    before, line = said[1].split(" --no-install-recommends ")
    assert before.strip() == "apt-get update && apt-get install -y"
    assert len(said) == 2
    return line.split()


def test_one_line_names_each_package_once(tmp_path: Path) -> None:
    to_run, to_test = (_asked_for(tmp_path / what, what) for what in ("run", "test"))
    for packages in (to_run, to_test):
        assert len(packages) == len(set(packages))
    assert to_test[: len(to_run)] == to_run
    assert {"python3-venv", "gcc", "libc6-dev"} <= set(to_run)
    assert "rclone" in to_test


def test_a_host_with_dnf_is_told_names_that_it_knows(tmp_path: Path) -> None:
    for name, body in {"id": "echo 1000", "dnf": "exit 1", "cc": "exit 1"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    environment = {"PATH": str(tmp_path), "PYTHON": "no-python"}
    done = subprocess.run(
        ["/bin/sh", str(SCRIPT), "test"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    asked = done.stderr.splitlines()[-1].strip()
    before, packages = asked.split("dnf install -y iperf3 ")
    assert before == "dnf install -y epel-release && "
    assert {"udt", "glibc-devel", "xrootd-client"} <= set(packages.split())
    assert not {"libc6-dev", "libudt0"} & set(packages.split())


def test_every_need_of_the_script_is_in_the_table() -> None:
    needs = set(re.findall(r"want ([a-z0-9+-]+)$", SCRIPT.read_text(), flags=re.M))
    assert len(needs) > 15
    for need in needs:
        assert installation(need, on=System("apt")).command.startswith("apt-get install ")
        assert "dnf install " in installation(need, on=System("dnf")).command


@pytest.fixture
def with_sudo(tmp_path: Path) -> dict[str, str]:
    """The environment of an ordinary user with a sudo that notes what it is asked for."""
    for name, body in {
        "id": "echo 1000",
        "apt-get": "exit 0",
        "cc": "exit 1",
        "sudo": f'echo "$*" >> {tmp_path / "asked"}',
    }.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    return {"PATH": str(tmp_path), "PYTHON": "no-python"}


def test_sudo_is_not_used_where_nobody_can_be_asked(
    tmp_path: Path, with_sudo: dict[str, str]
) -> None:
    done = subprocess.run(
        ["/bin/sh", str(SCRIPT), "run"],
        env=with_sudo,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "Run this once as root" in done.stderr
    assert not (tmp_path / "asked").exists()


def test_sudo_is_used_where_that_was_allowed_before(
    tmp_path: Path, with_sudo: dict[str, str]
) -> None:
    allowed = with_sudo | {"ADVISOR_SUDO": "yes"}
    subprocess.run(
        ["/bin/sh", str(SCRIPT), "run"], env=allowed, stdin=subprocess.DEVNULL, check=True
    )
    assert "apt-get -qq install -y" in (tmp_path / "asked").read_text()


def _all_from(terminal: int) -> str:
    """What a terminal was written, which comes in parts, until nobody has it open any more."""
    parts = []
    with contextlib.suppress(OSError):
        while part := os.read(terminal, 65536):
            parts.append(part)
    return b"".join(parts).decode()


@pytest.mark.parametrize(("answer", "is_used"), [("y", True), ("n", False), ("", False)])
def test_sudo_asks_on_a_terminal(
    tmp_path: Path, with_sudo: dict[str, str], answer: str, is_used: bool
) -> None:
    ours, theirs = pty.openpty()
    os.write(ours, f"{answer}\n".encode())
    try:
        done = subprocess.run(
            ["/bin/sh", str(SCRIPT), "run"],
            env=with_sudo,
            stdin=theirs,
            stderr=theirs,
            timeout=30,
            check=False,
        )
    finally:
        os.close(theirs)
        said = _all_from(ours)
        os.close(ours)
    assert "Install with sudo? [y/N]" in said
    assert (done.returncode == 0) is is_used
    assert (tmp_path / "asked").exists() is is_used


def test_uv_is_installed_by_hash() -> None:
    root = SCRIPT.parents[1]
    pinned = (root / "scripts/uv.txt").read_text()
    assert pinned.count("--hash=sha256:") > 10
    lines = [x for x in (root / "Makefile").read_text().splitlines() if "pip install" in x]
    assert all("--require-hashes -r" in line for line in lines)
    assert any(line.endswith("scripts/uv.txt") for line in lines)
