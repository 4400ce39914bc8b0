"""What the program asks the system for, where it may not install it by itself."""

import subprocess
from pathlib import Path

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
