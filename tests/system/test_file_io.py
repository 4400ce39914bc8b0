"""`advisor file-io` as a user runs it, with a real fio: here, through an agent, and cut short."""

import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from advisor.hosts.filesystems import filesystem_of
from advisor.models.file_io import most_bytes

from .conftest import StartAgent
from .program import Start, wait_until

pytestmark = [
    pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "a folder"
    place.mkdir()
    if not most_bytes(filesystem_of(place)):
        pytest.skip("the file system of the temporary folder is too full")
    return place


@pytest.mark.as_root
def test_a_quick_profile_of_both_directions(start: Start, folder: Path) -> None:
    done = start("file-io", str(folder), "--quick", "--json").finish()
    assert done.returncode == 0, done.stderr
    assert f"below {folder}, and removes it" in done.stderr
    report = json.loads(done.stdout)
    assert [p["direction"] for p in report["profiles"]] == ["read", "write"]
    for profile in report["profiles"]:
        assert [m["job"]["threads"] for m in profile["measured"]] == [1, 4, 16]
        assert all(m["result"]["moved_bytes"] > 0 for m in profile["measured"])
        assert profile["failures"] == []
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_cut_short_it_leaves_nothing(start: Start, folder: Path, number: signal.Signals) -> None:
    run = start("file-io", str(folder), "--write")
    assert wait_until(lambda: bool(list(folder.glob("*/data"))))
    os.kill(run.process.pid, number)
    status = run.finish().returncode
    assert status == (-9 if number == signal.SIGKILL else 130)
    # After a kill it is another process that removes it, a moment later.
    assert wait_until(lambda: list(folder.iterdir()) == [])


def test_through_an_agent(start: Start, start_agent: StartAgent, folder: Path) -> None:
    agent = start_agent("--files", str(folder))
    command = ["file-io", "--quick", "--write", "--json", *agent.options]
    done = start(*command, str(folder)).finish()
    assert done.returncode == 0, done.stderr
    (profile,) = json.loads(done.stdout)["profiles"]
    assert len(profile["measured"]) == 3
    assert list(folder.iterdir()) == []
    refused = start(*command, "/usr").finish()
    assert refused.returncode == 1
    assert "in none of the folders given to the agent" in refused.stderr


def test_ctrl_c_ends_it_at_the_agent_too(
    start: Start, start_agent: StartAgent, folder: Path
) -> None:
    agent = start_agent("--files", str(folder))
    run = start("file-io", str(folder), "--write", *agent.options)
    assert wait_until(lambda: bool(list(folder.glob("*/data"))))
    os.kill(run.process.pid, signal.SIGINT)
    assert run.finish().returncode == 130
    assert wait_until(lambda: list(folder.iterdir()) == [])
