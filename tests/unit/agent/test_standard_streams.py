"""What speaks to another advisor over standard input and output, started by somebody by hand."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("words", [["agent", "--stdio"], ["node"]])
@pytest.mark.parametrize("file", ["input", "output"])
def test_a_file_is_no_channel(tmp_path: Path, words: list[str], file: str) -> None:
    with (tmp_path / "file").open("w+b") as other:
        done = subprocess.run(
            [sys.executable, "-m", "advisor", *words],
            stdin=other if file == "input" else subprocess.PIPE,
            stdout=other if file == "output" else subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert line.startswith("advisor: standard input or output is a file")
