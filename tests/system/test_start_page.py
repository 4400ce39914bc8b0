"""The first page of the manual: every command on it, typed in its order by a new user."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from .labs import Lab
from .program import ADVISOR

PAGE = Path(__file__).parents[2] / "docs/start.md"
LAB = "first"


def commands() -> list[list[str]]:
    """The lines of the page, but those with a host that the reader has to fill in."""
    lines = re.findall(r"^    advisor (.*)$", PAGE.read_text(), re.MULTILINE)
    return [shlex.split(line) for line in lines if "HOST" not in line]


def test_a_new_user_gets_as_far_as_the_page_says(tmp_path: Path, lab_cache: Path) -> None:
    lab = Lab(tmp_path, lab_cache, LAB)
    printed: dict[str, str] = {}
    try:
        for words in commands():
            done = subprocess.run(
                [*ADVISOR, *words],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=120,
                env=lab.environment,
                check=False,
            )
            assert done.returncode == 0, (words, done.stderr)
            printed[" ".join(words)] = done.stdout
    finally:
        lab.run("down")
    assert len(printed) == len(commands())
    advice = next(text for words, text in printed.items() if "lab:first --budget" in words)
    for promised in ("use", "expect", "default", "takes", "Why", "Run"):
        assert re.search(rf"^ *{promised}\b", advice, re.MULTILINE), promised
    assert f"lab:{LAB}" in printed["history"]
    assert "localhost" in printed["history sessions"]


def test_the_page_says_which_lab_it_makes() -> None:
    made = [words[2] for words in commands() if words[:2] == ["lab", "up"]]
    assert made == [LAB]


@pytest.mark.parametrize("word", ["localhost", f"lab:{LAB}"])
def test_it_measures_what_is_there_on_a_fresh_installation(word: str) -> None:
    assert ["advise", word] in [words[:2] for words in commands()]
