"""Shells are given what they need, and complete commands, options and destinations."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ADVISOR = [sys.executable, "-P", "-m", "advisor"]
PROGRAM = Path(sys.executable).with_name("advisor")


def run(home: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    words = {
        "HOME": str(home),
        "ADVISOR_RUNTIME_DIR": str(home / "advisor"),
        "PATH": os.environ["PATH"],
    }
    command = [str(PROGRAM), *arguments] if environment else [*ADVISOR, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, env=words | environment, check=False
    )


def completed(home: Path, line: str) -> list[str]:
    count = len(line.split(" ")) - 1
    done = run(home, _ADVISOR_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(count))
    return done.stdout.splitlines()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_what_is_printed_the_shell_understands(shell: str, tmp_path: Path) -> None:
    done = run(tmp_path, "completion", shell)
    assert done.returncode == 0, done.stderr
    assert "_ADVISOR_COMPLETE" in done.stdout
    program = shutil.which(shell)
    if program is None:
        return  # What it prints was looked at; only that shell itself can say more.
    checked = subprocess.run(
        [program, "-n"], input=done.stdout, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr


def test_another_shell_is_refused(tmp_path: Path) -> None:
    done = run(tmp_path, "completion", "csh")
    assert done.returncode == 2
    assert "csh" in done.stderr


def test_commands_options_and_destinations(tmp_path: Path) -> None:
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "config").write_text("Host dtn02 dtn03\nHost other\n")
    assert completed(tmp_path, "advisor adv") == ["advise"]
    assert completed(tmp_path, "advisor lab che") == ["check"]
    assert completed(tmp_path, "advisor advise --transp") == ["--transports"]
    assert completed(tmp_path, "advisor advise dtn") == ["dtn02", "dtn03"]
    assert completed(tmp_path, "advisor advise me@o") == ["me@other"]
    assert "localhost" in completed(tmp_path, "advisor advise l")
