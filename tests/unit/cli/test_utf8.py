"""In a locale without UTF-8 the program uses UTF-8 all the same."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# As Python works in a locale of 8 bits, which need not be installed: without its own remedies.
OTHER = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
SHOWS = """
import os, sys
from advisor.cli.utf8 import use_utf8
before = sys.getfilesystemencoding()
use_utf8()
print(before, sys.stdout.encoding, os.listdir(sys.argv[1]), os.environ["PYTHONUTF8"])
"""


def _ran(argv: list[str]) -> str:
    done = subprocess.run(argv, env=OTHER, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def test_the_locale_is_another_one() -> None:
    shown = _ran([sys.executable, "-c", "import sys; print(sys.getfilesystemencoding())"])
    assert shown == "ascii\n"


def test_names_of_files_are_utf8(tmp_path: Path) -> None:
    (tmp_path / "ümlaut").touch()
    shown = _ran([sys.executable, "-c", SHOWS, str(tmp_path)])
    assert shown == "utf-8 utf-8 ['ümlaut'] 1\n"


@pytest.mark.parametrize("start", [[sys.executable, "-P", "-m", "advisor"], ["advisor"]])
def test_what_is_printed_is_utf8(start: list[str]) -> None:
    if start == ["advisor"]:
        start = [str(Path(sys.executable).with_name("advisor"))]
    assert "×" in _ran([*start, "plugins"])
