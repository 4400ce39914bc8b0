"""Profiling globus-url-copy on this host: a real server, client, fio and agent."""

import contextlib
import filecmp
import os
import signal
import socket
import subprocess
import threading
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import pytest

from advisor.hosts.file_io import fio_available
from advisor.hosts.scratch import links_are_protected
from advisor.report.ndjson import schema
from tests.benchmarks.disk.files import difference

from .program import Run, Start, wait_until
from .tool_servers import Server

BUDGET = ["--budget", "20"]
# Of a session that does not come to its end.
LONG = ["--budget", "36"]
# With time for every part, also on a busy machine: the session ends once it is settled.
AMPLE = ["--budget", "120"]
# For what takes a busy machine long to make and to remove.
LARGE = ["--budget", "24"]
SEED = ["--seed", "1"]

needs_another_account = pytest.mark.skipif(
    os.geteuid() != 0 or not links_are_protected(),
    reason="needs a server of another account: run as root, where fs.protected_symlinks is 1",
)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Files of many sizes."""
    folder = tmp_path / "run 42"
    (folder / "below").mkdir(parents=True)
    for number in range(60):
        (folder / f"small {number}").write_bytes(os.urandom(20_000))
        (folder / "below" / f"{number}.dat").write_bytes(os.urandom(200_000))
    (folder / "large").write_bytes(os.urandom(30_000_000))
    return folder


def _advise(start: Start, server: Server, source: Path, target: Path, *options: str) -> Run:
    return start(
        *("advise", "localhost", "--tool", "globus-url-copy", "--json", *SEED, *BUDGET),
        *("--server", server.url, "--data", str(source), "--to", str(target), *options),
    )


def _ended(run: Run, transport: str) -> list[dict[str, Any]]:
    events = [e for e in run.events if e["event"] == "probe_ended"]
    return [e for e in events if e["transport"] == transport]


def _messages(run: Run) -> list[str]:
    results = (e["result"] for e in run.events if e["event"] == "probe_ended")
    return [result["message"] for result in results if result["outcome"] == "failed"]


def _ours(folder: Path) -> list[Path]:
    return list(folder.rglob(".advisor*"))


def test_the_line_that_is_advised_does_what_was_said(
    start: Start, own_server: Server, source: Path
) -> None:
    target = own_server.folder / "there"
    run = _advise(start, own_server, source, target, *AMPLE)
    done = run.finish(timeout_s=170)
    assert done.returncode == 0, done.stderr
    validator = jsonschema.Draft202012Validator(schema())
    for event in run.events:
        validator.validate(event)
    kinds = [event["event"] for event in run.events]
    assert kinds.index("files_planned") < kinds.index("stage_started")
    planned = run.events[kinds.index("files_planned")]
    assert planned["folder"] == str(target)
    assert 0 < planned["most_bytes"] <= 60 * 220_000 + 30_000_000
    stages = [e["stage"] for e in run.events if e["event"] == "stage_started"]
    disks = ["source disk", "destination disk"] if fio_available().ok else ["destination disk"]
    in_memory = "tool memory to memory"
    assert stages == ["network", *disks, "baseline", "globus-url-copy", "confirm", in_memory]
    moved = [e["result"]["work"] for e in _ended(run, "globus-url-copy")]
    assert any(one["files"] == 121 and not one.get("is_cut") for one in moved), (
        "all fits in a probe"
    )
    advice = run.events[-1]
    assert advice["event"] == "advice"
    assert advice["transport"] == "globus-url-copy"
    composition = advice["composition"]
    assert composition["joint_bps"] == advice["expected_bps"]
    assert composition["predicted_bps"] == min(
        s["throughput_bps"] for s in composition["subsystems"]
    )
    assert "absent" not in composition
    [alone] = [s for s in composition["subsystems"] if s["what"] == in_memory]
    assert alone["setting"] == advice["setting"]
    assert alone["throughput_bps"] > 0
    fast_s, slow_s = advice["transfer_s"]["interval"]
    assert fast_s <= advice["transfer_s"]["value"] <= slow_s
    assert not list(own_server.folder.iterdir()), "what the probes moved is taken away again"
    [command] = advice["commands"]
    assert subprocess.run(command["shell"], shell=True, check=False).returncode == 0
    assert not difference(source, target)


def test_what_arrived_whole_stays_where_it_belongs(
    start: Start, own_server: Server, source: Path
) -> None:
    target = own_server.folder / "there"
    target.mkdir()
    target.chmod(0o777)
    for number in range(30):
        (target / f"small {number}").write_text("mine")
    run = _advise(start, own_server, source, target, "--keep")
    assert run.finish().returncode == 0
    assert not _ours(own_server.folder)
    for number in range(30):
        assert (target / f"small {number}").read_text() == "mine", "what is there is not touched"
        (target / f"small {number}").unlink()
    kept = [path for path in target.rglob("*") if path.is_file()]
    assert kept
    for path in kept:
        assert filecmp.cmp(path, source / path.relative_to(target), shallow=False)
    [command] = run.events[-1]["commands"]
    assert "-sync" in command["argv"]
    before = {path: path.stat().st_mtime_ns for path in kept}
    assert subprocess.run(command["shell"], shell=True, check=False).returncode == 0
    assert not difference(source, target)
    assert {path: path.stat().st_mtime_ns for path in kept} == before


def test_of_a_single_file_the_first_bytes_stay(
    start: Start, own_server: Server, tmp_path: Path
) -> None:
    source, target = tmp_path / "one", own_server.folder / "sub" / "one"
    source.write_bytes(os.urandom(300_000_000))
    run = _advise(start, own_server, source, target, "--keep", *LARGE)
    done = run.finish()
    assert done.returncode == 0, done.stderr
    assert not _ours(own_server.folder)
    size = target.stat().st_size
    assert 0 < size <= 300_000_000
    [command] = run.events[-1]["commands"]
    argv = command["argv"]
    # More may have arrived, with a gap before it.
    kept_bytes = int(argv[argv.index("-off") + 1]) if "-off" in argv else size
    assert 0 < kept_bytes <= size
    with source.open("rb") as whole, target.open("rb") as part:
        assert whole.read(kept_bytes) == part.read(kept_bytes)
    assert subprocess.run(command["shell"], shell=True, check=False).returncode == 0
    assert filecmp.cmp(source, target, shallow=False)


def test_names_and_sparse_files(start: Start, own_server: Server, tmp_path: Path) -> None:
    source = tmp_path / "names"
    source.mkdir()
    names = ['a "quoted" one', "line\nend", "ümläut", "with space", "100%", "#?*[x]", "-dash"]
    for name in names:
        (source / name).write_bytes(os.urandom(500_000))
    with (source / "sparse").open("wb") as sparse:
        sparse.truncate(20_000_000)
    before = {name: (source / name).read_bytes() for name in names}
    target = own_server.folder / "there"
    run = _advise(start, own_server, source, target, "--keep")
    done = run.finish()
    assert done.returncode == 0, done.stderr
    assert not _messages(run)
    assert {name: (source / name).read_bytes() for name in names} == before
    for path in target.rglob("*"):
        assert filecmp.cmp(path, source / path.name, shallow=False)
    assert not (target / "ümläut").exists(), "the server would have written another name"
    assert not _ours(own_server.folder)


@pytest.mark.soak
def test_ten_thousand_tiny_files(start: Start, own_server: Server, tmp_path: Path) -> None:
    source = tmp_path / "tiny"
    for folder in range(10):
        (source / str(folder)).mkdir(parents=True)
        for number in range(1000):
            (source / str(folder) / str(number)).write_bytes(b"x" * 100)
    run = _advise(start, own_server, source, own_server.folder / "there", *LARGE)
    done = run.finish()
    assert done.returncode == 0, done.stderr
    assert run.events[-1]["transfer_s"]["value"] > 0
    assert not list(own_server.folder.iterdir())


def test_the_server_goes_away_in_the_middle(start: Start, own_server: Server, source: Path) -> None:
    run = _advise(start, own_server, source, own_server.folder / "there", "--keep", *LONG)
    run.wait_for("probe_ended", transport="globus-url-copy")
    run.wait_for("probe_ended", transport="globus-url-copy")
    folder, port = own_server.folder, urlsplit(own_server.url).port
    own_server.end()
    with socket.socket() as held:
        # Nor does anything else of this machine listen there.
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", port))
        done = run.finish()
    assert done.returncode == 0, "what was measured before is advice all the same"
    advice = run.events[-1]
    assert advice["incomplete"]
    messages = _messages(run)
    # Its folder goes as well: whichever of the two is asked for first. Of a server that is gone
    # nobody knows the account.
    gone = (
        "Nothing answers at",
        "on the agent's side: No such file",
        *(() if links_are_protected() else ("a server of another account",)),
    )
    assert any(words in message for words in gone for message in messages), messages
    assert "Traceback" not in done.stderr
    assert not folder.exists()


@pytest.mark.as_root
@needs_another_account
def test_files_of_another_account_are_not_kept(start: Start, server: Server, source: Path) -> None:
    """They would lie in folders where that account can write nothing beside them."""
    run = _advise(start, server, source, server.folder / "there", "--keep")
    assert run.finish().returncode == 0
    assert not list(server.folder.iterdir())
    notices = [e["message"] for e in run.events if e["event"] == "notice"]
    assert any("belongs to another account" in notice for notice in notices)
    assert "-sync" not in run.events[-1]["commands"][0]["argv"]


@pytest.mark.as_root
@needs_another_account
def test_a_folder_that_the_server_may_not_write(
    start: Start, server: Server, source: Path, tmp_path: Path
) -> None:
    closed = server.folder / "closed"
    closed.mkdir(mode=0o700)
    run = _advise(start, server, source, closed / "there")
    done = run.finish()
    assert done.returncode == 1
    assert run.events[-1]["event"] == "gave_up"
    message = run.events[-1]["message"]
    assert "no permission to write" in message or "cannot open" in message
    assert not list(closed.iterdir())


@pytest.mark.as_root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it mounts a small file system")
def test_a_destination_without_room(start: Start, server: Server, source: Path) -> None:
    full = server.folder / "full"
    full.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m,mode=1777", "none", str(full)]
    subprocess.run(mount, check=True, timeout=10)
    try:
        with contextlib.suppress(OSError):
            (full / "of others").write_bytes(bytes(2 * 2**20))
        held = (full / "of others").stat().st_size
        run = _advise(start, server, source, full / "there")
        done = run.finish()
        assert done.returncode in (1, 2)
        assert "free space" in run.events[-1]["message"]
        assert (full / "of others").stat().st_size == held
    finally:
        subprocess.run(["umount", "-l", str(full)], check=True, timeout=10)


def test_a_file_that_changes_while_it_is_read(
    start: Start, own_server: Server, tmp_path: Path
) -> None:
    source = tmp_path / "growing"
    source.write_bytes(os.urandom(20_000_000))
    over = threading.Event()

    def grow() -> None:
        while not over.wait(0.01):
            with source.open("ab") as file:
                file.write(b"more")

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        run = _advise(start, own_server, source, own_server.folder / "there", *LONG)
        done = run.finish()
    finally:
        over.set()
        thread.join()
    assert done.returncode == 1
    assert "changed or disappeared while it was read" in run.events[-1]["message"]
    assert not list(own_server.folder.iterdir())


def test_ctrl_c_leaves_nothing_behind(start: Start, own_server: Server, source: Path) -> None:
    run = _advise(start, own_server, source, own_server.folder / "there", *LONG)
    run.wait_for("probe_ended", transport="globus-url-copy")
    run.wait_for("interval")
    run.process.send_signal(signal.SIGINT)
    assert run.finish().returncode == 130
    assert run.events[-1]["event"] == "advice"
    assert run.events[-1]["incomplete"]
    assert not list(own_server.folder.iterdir())


def test_ctrl_c_twice_and_kill_9_end_the_client(
    start: Start, own_server: Server, source: Path
) -> None:
    run = _advise(start, own_server, source, own_server.folder / "there", *LONG)
    run.wait_for("probe_ended", transport="globus-url-copy")
    run.wait_for("interval")
    run.process.send_signal(signal.SIGKILL)
    run.process.wait()
    assert wait_until(lambda: not _clients(own_server.url))


def _clients(url: str) -> list[str]:
    """Client processes whose list of files, or command line, names this server."""
    found = []
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            words = (
                (process / "cmdline").read_bytes().split(b"\0") if process.name.isdigit() else []
            )
            if words and words[0].endswith(b"globus-url-copy"):
                listed = next((w for w in words if w.endswith(b"/files")), None)
                text = Path(os.fsdecode(listed)).read_text() if listed else ""
                if url in text or url.encode() in b" ".join(words):
                    found.append(process.name)
    return found
