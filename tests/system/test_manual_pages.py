"""Every page of the manual begins with commands that a new user can type, and these run.

The first page is typed from its first to its last line in test_start_page.py.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.manual_nav import nav
from tests.plugins.tools.gridftp_lines import require

from .labs import Lab
from .program import ADVISOR

DOCS = Path(__file__).parents[2] / "docs"
LAB_UP = "advisor lab up first --rtt 20ms --rate 200Mbit --mtu 1500"
# They fill cores, take minutes, or need results of those; test_docs parses all of them, and they
# have tests of their own.
ELSEWHERE = (
    "advise ",
    "backtest TABLE",
    "demo",
    "file-io ",
    "fleet demo",
    "history show",
    "lab check",
    "lab down wan",
    "lab up far-away",
    "lab up five",
    "lab up wan",
    "profile ",
    "share ",
)
# Only several hosts with logins and a database have nodes.
WITHOUT = {"nodes.md"}
OTHER_HOSTS = re.compile(r"HOST|example\.org|/data/|/store|dtn\d")


def task_pages() -> list[str]:
    """All but benchmarks and generated pages, which describe no task."""
    parts = nav((DOCS / "index.md").read_text())[1:-1]
    found = [path for part in parts for one in next(iter(part.values())) for path in one.values()]
    return [path for path in found if "/" not in path and path not in WITHOUT]


def first_block(page: str) -> list[str]:
    """The lines of the first block of a page, continued ones joined."""
    text = (DOCS / page).read_text().replace("\\\n", " ")
    block = re.search(r"(?:^    \S.*\n)+", text, re.MULTILINE)
    assert block, page
    return [" ".join(line.split()) for line in block[0].splitlines()]


def typed(page: str) -> list[str]:
    """What of it needs nothing but this host."""
    return [line for line in first_block(page) if not OTHER_HOSTS.search(line)]


def runs(line: str) -> bool:
    """Whether it is typed here: python.md has test_notebook, and the lab is up already."""
    program, _, words = line.partition(" ")
    elsewhere = program == "advisor" and words.startswith(ELSEWHERE)
    return line != LAB_UP and program != "python" and not elsewhere


@pytest.mark.parametrize("page", task_pages())
def test_it_begins_with_what_works_on_a_fresh_installation(page: str) -> None:
    assert first_block(page)[0] in typed(page)
    assert "…" not in first_block(page)[0]


RUN = [page for page in task_pages() if page != "start.md" and any(map(runs, typed(page)))]


class Reader(Lab):
    """A user in an empty home, with `advisor` in the PATH, and the lab that pages begin with."""

    def type(self, *lines: str) -> str:
        done = subprocess.run(
            ["bash", "-ec", "\n".join(lines)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=180,
            cwd=self.home / "home",
            env=self.environment,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    home = tmp_path_factory.mktemp("reader")
    one = Reader(home, home / "cache", "first")
    (home / "home").mkdir()
    (home / "bin").mkdir()
    program = home / "bin/advisor"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(ADVISOR)} "$@"\n')
    program.chmod(0o755)
    one.environment |= {
        "PATH": f"{home / 'bin'}:{Path(sys.executable).parent}:{one.environment['PATH']}",
        "HOME": str(home / "home"),
        "PYTHONPATH": os.fspath(DOCS.parent),
    }
    one.type(LAB_UP)
    yield one
    one.run("down")


@pytest.mark.parametrize("page", RUN)
def test_what_it_begins_with_runs(page: str, reader: Reader) -> None:
    if "lab files" in " ".join(typed(page)):
        require("globus-gridftp-server")
    reader.type(*filter(runs, typed(page)))


def test_a_method_of_ones_own_as_the_page_says(reader: Reader) -> None:
    text = (DOCS / "plugins.md").read_text()
    written = re.search(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    scored = re.search(r"^    (advisor backtest .*middle.*)$", text, re.MULTILINE)
    assert written
    assert scored
    reader.environment["XDG_DATA_HOME"] = f"{reader.home}/home/.local/share"
    assert "middle" in reader.type(written[1], scored[1])
    assert "middle" in reader.type("advisor plugins")
