"""Comparing what arrived, across a lab and with agents that were given their folders."""

import os
import shutil
import signal
from pathlib import Path

import psutil
import pytest

from .conftest import StartAgent
from .labs import Lab
from .program import Start

NAMES = ["plain", "a b", "it's", 'a"b', "a\nb", "Ünïcödé", "-rf", "*", "a\\b", "%41", "é/deep/er"]


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Files with the names that make trouble, and one of some size."""
    folder = tmp_path / "run42"
    for name in NAMES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"content of {name}")
    (folder / "empty").touch()
    (folder / "data.bin").write_bytes(os.urandom(5_000_000))
    return folder


def test_across_a_lab(start: Start, lab: Lab, here: Path) -> None:
    offered = lab.folder / "files" / "far"
    offered.mkdir(parents=True, exist_ok=True)
    there = offered / "run42"
    shutil.copytree(here, there)
    where = [f"lab:{lab.name}", "--data", str(here), "--to"]

    same = start("verify", *where, str(there)).finish()
    assert (same.returncode, same.stderr) == (0, "")
    assert same.stdout.startswith(f"{len(NAMES) + 2} files, 4.77 MiB: all the same")

    with (there / "data.bin").open("r+b") as file:
        file.seek(3_000_000)
        byte = file.read(1)
        file.seek(3_000_000)
        file.write(bytes([byte[0] ^ 1]))
    (there / "a\nb").unlink()
    os.truncate(there / "Ünïcödé", 3)
    other = start("verify", *where, str(there)).finish()
    assert (other.returncode, other.stderr) == (1, "")
    size = len("content of Ünïcödé".encode())
    assert other.stdout == (
        f"3 of {len(NAMES) + 2} files differ: 'a\\nb' is missing there, "
        f"data.bin has another checksum there, Ünïcödé has {size} bytes here and 3 there\n"
    )

    outside = start("verify", *where, str(here)).finish()
    assert outside.returncode == 3
    assert "--files" in outside.stderr
    assert len(outside.stderr.splitlines()) == 1


def test_what_a_gridftp_server_wrote(start: Start, lab: Lab, here: Path) -> None:
    """A file that goes into a folder keeps its name, for the tool and for the comparison."""
    url = lab.status()["hosts"][0]["gridftp_url"]
    if url is None or shutil.which("globus-url-copy") is None:
        pytest.skip("no GridFTP server or client here")
    target = f"{lab.folder}/files/far/kept/"
    data = here / "data.bin"
    lab.do("exec", "--", "globus-url-copy", "-cd", f"file://{data}", f"{url}{target}data.bin")
    words = [f"lab:{lab.name}", "--data", str(data), "--to", target]
    done = start("verify", *words).finish()
    assert (done.returncode, done.stdout) == (0, "1 file, 4.77 MiB: all the same\n"), done.stderr


def test_a_listening_agent_has_only_the_folders_it_was_given(
    start: Start, start_agent: StartAgent, here: Path, tmp_path: Path
) -> None:
    there = tmp_path / "there"
    shutil.copytree(here, there)
    words = ["--data", str(here), "--to", str(there)]
    agent = start_agent()
    refused = start("verify", *agent.options, *words).finish()
    assert refused.returncode == 3
    assert "start it with --files FOLDER" in refused.stderr
    (tmp_path / "other").mkdir()
    agent = start_agent("--files", str(tmp_path / "other"), "--files", str(there))
    done = start("verify", *agent.options, *words).finish()
    assert done.returncode == 0, done.stderr
    (there / "plain").unlink()
    (there / "plain").symlink_to("/etc/hostname")
    led_out = start("verify", *agent.options, *words).finish()
    assert led_out.returncode == 3
    assert f"{there}/plain is in none of the folders given to the agent" in led_out.stderr


def test_files_are_given_to_listening_agents_alone(start: Start) -> None:
    done = start("agent", "--stdio", "--files", "/data").finish()
    assert done.returncode == 2
    assert "--files is for --listen" in done.stderr


def test_an_agent_killed_in_the_middle(
    start: Start, start_agent: StartAgent, tmp_path: Path
) -> None:
    """While both read files that would take hours."""
    for name in ("here", "there"):
        (tmp_path / name).touch()
        os.truncate(tmp_path / name, 2**43)
    agent = start_agent("--files", str(tmp_path))
    words = ["--data", str(tmp_path / "here"), "--to", str(tmp_path / "there")]
    run = start("verify", *agent.options, *words)
    other = psutil.Process(agent.run.process.pid)
    while str(tmp_path / "there") not in {file.path for file in other.open_files()}:
        assert run.process.poll() is None
    os.killpg(agent.run.process.pid, signal.SIGKILL)
    done = run.finish()
    assert done.returncode == 3
    assert "closed the connection" in done.stderr
    assert len(done.stderr.splitlines()) == 1
