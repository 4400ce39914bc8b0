"""`advisor fleet demo`: a mesh at work, of which nothing stays."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import pytest

from advisor.store.postgres.own_server import programs

from .program import ADVISOR, Start, own_environment, wait_until

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(programs() is None, reason="needs PostgreSQL: apt-get install postgresql"),
]
HOSTS = ("h1", "h2", "h3")
WORDS = ("fleet", "demo", "--hosts", "3", "--workers", "1", "--plain")


@pytest.fixture
def environment(tmp_path: Path, lab_cache: Path) -> Iterator[dict[str, str]]:
    """Of a user whose temporary files are all below a folder; the lab is taken down in the end."""
    # A short path: a socket's has 107 bytes at most.
    own = own_environment(tmp_path) | {"XDG_CACHE_HOME": str(lab_cache)}
    yield own
    subprocess.run(
        [*ADVISOR, "lab", "down", "fleet-demo"], env=own, capture_output=True, check=False
    )


def folder_of(home: Path) -> Path | None:
    """Where the demonstration that runs, or was killed, has its files."""
    named = home / "advisor" / "fleet-demo" / "folder"
    return Path(named.read_text()) if named.exists() else None


def running(folder: Path) -> list[str]:
    """Command lines of what runs there: its database, workers and what they started."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if str(folder) in line:
                found.append(line)
    return found


def test_a_mesh_is_measured_and_nothing_of_it_stays(
    start: Start, tmp_path: Path, environment: dict[str, str]
) -> None:
    run = start(*WORDS, environment=environment)
    assert wait_until(lambda: folder_of(tmp_path) is not None, 120)
    folder = folder_of(tmp_path)
    assert folder is not None
    socket = folder / "database"
    store = f"postgresql://reader@/fleet?host={socket}&port=5432"
    looking = [*ADVISOR, "fleet", "matrix", "--store", store, "--json"]

    def measured() -> set[tuple[str, str]]:
        done = subprocess.run(looking, env=environment, capture_output=True, text=True, check=False)
        found = re.findall(
            r'"source":"(h\d)","destination":"(h\d)","last_s":[\d.]+,[^}]*?"rate_bps":[\d.]+',
            done.stdout,
        )
        return set(found)

    everything = set(permutations(HOSTS, 2))
    assert wait_until(lambda: measured() == everything, 600, every_s=2), run.process.poll()
    run.process.send_signal(signal.SIGINT)
    done = run.finish()
    assert done.returncode == 0, done.stderr
    assert f"advisor fleet matrix --store '{store}'" in done.stderr
    assert "6 of 6 pairs measured" in done.stdout
    rows = [line.split() for line in done.stdout.splitlines() if line]
    assert {row[0]: row.count("Mbit/s") for row in rows if row[0] in HOSTS} == dict.fromkeys(
        HOSTS, 2
    )
    assert not folder.exists()
    assert folder_of(tmp_path) is None
    assert not (tmp_path / "advisor" / "lab" / "fleet-demo").exists()
    assert running(folder) == []
    # What the user's own history has is untouched: there is none.
    assert not (tmp_path / "data").exists()


def test_one_at_a_time_and_a_killed_one_is_cleared_by_the_next(
    start: Start, tmp_path: Path, environment: dict[str, str]
) -> None:
    killed = start(*WORDS, environment=environment)
    lab = tmp_path / "advisor" / "lab" / "fleet-demo"
    assert wait_until((lab / "lab.json").exists, 120)
    folder = folder_of(tmp_path)
    assert folder is not None
    second = start(*WORDS, environment=environment).finish()
    assert (second.returncode, "is running already" in second.stderr) == (1, True)
    os.killpg(killed.process.pid, signal.SIGKILL)
    killed.process.wait()
    # The database and the workers end with it; the lab and the folder wait for the next start.
    assert wait_until(lambda: not running(folder), 60), running(folder)
    assert folder.exists()
    again = start(*WORDS, "--duration", "1s", environment=environment).finish(300)
    assert again.returncode == 0, again.stderr
    assert not folder.exists()
    assert not lab.exists()
