"""Attacks on the claim that everything arrived: a transfer reports success for what is proven."""

import json
import os
import shutil
import signal
import stat
from pathlib import Path

import pytest

from tests.benchmarks.disk.files import difference

from .moved import make_files
from .program import Run, Start, wait_until
from .tool_servers import Server
from .transfers import AnyServer, make_endless, transfer, use

FEW = {"small": (20, 50_000), "large": (2, 9_000_000)}

# The client that moved the file damages it, before it ends: others run beside it.
FLIP_ONCE = """#!/bin/sh
PATH=${PATH#*:} "${0##*/}" "$@"
status=$?
for word; do
    case "$word" in *small/3.dat) is_in=yes ;; esac
    [ -f "$word" ] && grep -qE '(^|/)3\\.dat' "$word" && is_in=yes
    [ -h "$word/3.dat" ] || [ -h "$word/small/3.dat" ] && is_in=yes
done
if [ "$is_in" ] && mkdir "$ONCE" 2>/dev/null; then
    printf '\\377\\376' | dd of="$VICTIM" bs=1 seek=7 conv=notrunc 2>/dev/null
fi
exit $status
"""


FLIP_FIRST = """#!/bin/sh
PATH=${PATH#*:} globus-url-copy "$@"
status=$?
for file in "$OFFERED"/.advisor-*/000000 "$OFFERED"/there/.advisor-*/000000; do
    [ -f "$file" ] && printf '\\377\\376' | dd of="$file" bs=1 seek=7 conv=notrunc 2>/dev/null
done
exit $status
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return make_files(tmp_path / "from here", FEW)


@pytest.fixture
def other_home(tmp_path: Path) -> dict[str, str]:
    """Another user's folders: what is known of one transfer is not known to the other."""
    home = tmp_path / "other home"
    home.mkdir()
    return {
        "HOME": str(home),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_STATE_HOME": str(home / "state"),
    }


def damaging(program: str, tmp_path: Path, tool: str = "globus-url-copy") -> dict[str, str]:
    """The environment in which this program is the client; it calls the real one."""
    client = tmp_path / "bin" / tool
    client.parent.mkdir()
    client.write_text(program)
    client.chmod(0o755)
    return {"PATH": f"{client.parent}:{os.environ['PATH']}:/usr/sbin:/sbin"}


def result(run: Run) -> tuple[int, str]:
    """Exit code and last message."""
    done = run.finish()
    assert "Traceback" not in done.stderr
    return done.returncode, str(run.events[-1]["message"])


def interrupted(start: Start, any_server: AnyServer, source: Path) -> None:
    """A transfer to `there` that was stopped after something had arrived."""
    run = transfer(start, any_server, source, "--json", "--max-rate", "5Mbit")
    while run.wait_for("files_moving")["classes"][0]["files"] < 3:
        pass
    run.process.send_signal(signal.SIGINT)
    assert result(run)[0] == 130


def test_another_source_is_not_mixed_with_an_interrupted_one(
    start: Start, any_server: AnyServer, source: Path, tmp_path: Path, other_home: dict[str, str]
) -> None:
    interrupted(start, any_server, source)
    other = make_files(tmp_path / "other", FEW)
    there = any_server.folder / "there"

    def b(*options: str) -> Run:
        words = ("transfer", str(other), "localhost", "--to", str(there), *use(any_server))
        return start(*words, "--json", *options, environment=other_home)

    status, message = result(b("--overwrite"))
    assert status == 1
    assert "unfinished transfer of" in message
    assert "--take-over" in message
    status, message = result(b("--take-over"))
    assert status == 1
    assert "at the destination already" in message
    assert result(b("--take-over", "--overwrite"))[0] == 0
    assert not difference(other, there)
    # What A had moved is B's now: nothing of it counts, and nothing of B's is replaced unasked.
    status, message = result(transfer(start, any_server, source, "--json"))
    assert status == 1
    assert "at the destination already" in message
    assert not difference(other, there)
    assert result(transfer(start, any_server, source, "--json", "--overwrite"))[0] == 0
    assert not difference(source, there)


def test_two_at_once_to_one_target(
    start: Start, any_server: AnyServer, tmp_path: Path, other_home: dict[str, str]
) -> None:
    endless = make_endless(tmp_path / "endless")
    first = transfer(start, any_server, endless, "--json", "--max-rate", "2Mbit")
    first.wait_for("files_moving")
    other = make_files(tmp_path / "other", FEW)
    spelled = str(any_server.folder / "." / "there") + "/"
    for to in (spelled, f"{spelled}/below"):
        second = start(
            *("transfer", str(other), "localhost", "--to", to),
            *(*use(any_server), "--json", "--overwrite", "--take-over"),
            environment=other_home,
        )
        status, message = result(second)
        assert status == 1
        assert "is writing to" in message
    first.process.send_signal(signal.SIGINT)
    assert first.finish().returncode == 130


def test_one_to_a_folder_above(
    start: Start, any_server: AnyServer, tmp_path: Path, other_home: dict[str, str]
) -> None:
    there = any_server.folder / "there"
    there.mkdir()
    there.chmod(0o777)  # The server may run as another account.
    endless = make_endless(tmp_path / "endless")
    first = transfer(start, any_server, endless, "--json", "--max-rate", "2Mbit")
    first.wait_for("files_moving")
    make_files(tmp_path / "other/there", FEW)
    second = start(
        *("transfer", str(tmp_path / "other"), "localhost", "--to", str(any_server.folder)),
        *(*use(any_server), "--json", "--overwrite", "--take-over"),
        environment=other_home,
    )
    status, message = result(second)
    assert status == 1
    assert f"is writing to {there}" in message
    assert not (there / "small").exists()
    first.process.send_signal(signal.SIGINT)
    assert first.finish().returncode == 130


def test_a_source_that_is_replaced_while_stopped(
    start: Start, any_server: AnyServer, source: Path, tmp_path: Path
) -> None:
    interrupted(start, any_server, source)
    [journal] = (tmp_path / ".local/state/advisor/transfers").glob("*.jsonl")
    arrived = [json.loads(line)[0] for line in journal.read_text().splitlines()[1:]]
    file = source / arrived[0]
    before = file.stat()
    replacement = file.with_name("replacement")
    replacement.write_bytes(os.urandom(before.st_size))
    os.utime(replacement, ns=(before.st_atime_ns, before.st_mtime_ns))
    replacement.replace(file)
    run = transfer(start, any_server, source, "--json")
    assert result(run)[0] == 0
    notices = [one["message"] for one in run.events if one["event"] == "notice"]
    assert any("Changed at the source" in one and arrived[0] in one for one in notices)
    assert not difference(source, any_server.folder / "there")


def test_a_source_that_grows_after_it_was_counted(
    start: Start, any_server: AnyServer, source: Path, tmp_path: Path
) -> None:
    run = transfer(start, any_server, source, "--json", "--max-rate", "10Mbit")
    journal = tmp_path / ".local/state/advisor/transfers"

    def has_arrived() -> bool:
        text = "".join(path.read_text() for path in journal.glob("*.jsonl"))
        return '["small/0.dat"' in text

    assert wait_until(has_arrived, 60)
    with (source / "small/0.dat").open("ab") as file:
        file.write(b"more")
    status, message = result(run)
    assert status == 1
    assert "changed at the source" in message
    assert "small/0.dat" in message
    assert result(transfer(start, any_server, source, "--json"))[0] == 0
    assert not difference(source, any_server.folder / "there")


@pytest.mark.as_root
def test_what_exists_is_not_replaced_without_a_word(
    start: Start, every_server: AnyServer, source: Path
) -> None:
    there = every_server.folder / "there"
    (there / "small").mkdir(parents=True)
    (there / "small/1.dat").write_bytes(b"x" * 80_000)
    (there / "small/2.dat").write_bytes((source / "small/2.dat").read_bytes())
    for folder in (there, there / "small"):
        folder.chmod(0o777)
    for file in (there / "small").iterdir():
        file.chmod(0o666)
    status, message = result(transfer(start, every_server, source, "--json"))
    assert status == 1
    assert "2 entries are at the destination already" in message
    assert "--overwrite" in message
    status, message = result(transfer(start, every_server, source, "--json", "--skip-existing"))
    assert status == 1
    assert "1 entry is at the destination with other content" in message
    assert (there / "small/1.dat").read_bytes() == b"x" * 80_000
    assert result(transfer(start, every_server, source, "--json", "--overwrite"))[0] == 0
    assert not difference(source, there)
    # Everything is there: with --skip-existing nothing is moved.
    run = transfer(start, every_server, source, "--json", "--skip-existing")
    assert result(run)[0] == 0
    assert run.events[-1]["earlier_bytes"] == run.events[-1]["moved_bytes"]


@pytest.mark.as_root
def test_a_link_at_the_target_is_not_followed(
    start: Start, any_server: AnyServer, source: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    there = any_server.folder / "there"
    there.mkdir()
    (there / "small").symlink_to(outside)
    status, message = result(transfer(start, any_server, source, "--json", "--overwrite"))
    assert status == 1
    assert "is a link at the destination" in message
    assert not list(outside.iterdir())


def test_what_links_point_to_arrives_where_they_are_followed(
    start: Start, every_server: AnyServer, source: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    for name in ("elsewhere/f", "alone"):
        (tmp_path / name).write_bytes(os.urandom(10_000))
    (source / "folder").symlink_to(tmp_path / "elsewhere")
    (source / "file").symlink_to(tmp_path / "alone")
    run = transfer(start, every_server, source, "--json", "--follow-links", "--verify")
    status, message = result(run)
    assert status == 0, message
    shutil.copytree(source, tmp_path / "followed")
    assert not difference(tmp_path / "followed", every_server.folder / "there")
    assert not list(filter(Path.is_symlink, (every_server.folder / "there").rglob("*")))
    number = sum(count for count, _ in FEW.values()) + 2
    assert f"All {number} files compared by checksum: identical." in [
        one["message"] for one in run.events if one["event"] == "notice"
    ]
    # DATA itself is followed in any case.
    to = every_server.folder / "there" / "single"
    words = ("transfer", str(source / "file"), "localhost", "--to", str(to), *use(every_server))
    status, message = result(start(*words, "--json"))
    assert status == 0, message
    assert to.read_bytes() == (tmp_path / "alone").read_bytes()


@pytest.mark.as_root
def test_nothing_of_the_source_is_lost_without_mention(
    start: Start, any_server: AnyServer, source: Path
) -> None:
    (source / "empty").mkdir(mode=0o750)
    (source / "link").symlink_to("small/0.dat")
    (source / "folder link").symlink_to("small")
    (source / "small/0.dat").chmod(0o750)
    os.utime(source / "small/0.dat", ns=(10**18, 10**18 + 7))
    os.utime(source / "empty", ns=(10**18, 10**18))
    os.mkfifo(source / "pipe")
    (source / os.fsdecode(b"latin\xe9")).write_bytes(b"x")
    run = transfer(start, any_server, source, "--json")
    status, message = result(run)
    assert status == 1
    assert "2 entries left out" in message
    end = run.events[-1]
    assert end["missing"] == ["latin\\xe9: its name is not UTF-8", "pipe: a named pipe"]
    begun = [one["event"] for one in run.events].index("transfer_started")
    said = [one["message"] for one in run.events[:begun] if one["event"] == "notice"]
    assert any("a named pipe" in one for one in said), "it is said before anything is moved"
    words = ("--exclude", "pipe", "--exclude", "latin*", "--skip-existing")
    assert result(transfer(start, any_server, source, "--json", *words))[0] == 0
    there = any_server.folder / "there"
    assert str((there / "link").readlink()) == "small/0.dat"
    assert str((there / "folder link").readlink()) == "small"
    assert stat.S_IMODE((there / "empty").stat().st_mode) == 0o750
    assert (there / "empty").stat().st_mtime_ns == 10**18
    if os.geteuid() == 0 or (there / "small/0.dat").stat().st_uid == os.geteuid():
        assert stat.S_IMODE((there / "small/0.dat").stat().st_mode) == 0o750
        assert (there / "small/0.dat").stat().st_mtime_ns == 10**18 + 7


@pytest.mark.as_root
def test_content_that_is_damaged_on_the_way_is_moved_again(
    start: Start, every_server: AnyServer, source: Path, tmp_path: Path
) -> None:
    """The tool reports success, and every size is right."""
    there = every_server.folder / "there"
    victim = {"VICTIM": str(there / "small/3.dat"), "ONCE": str(tmp_path / "once")}
    run = start(
        *("transfer", str(source), "localhost", "--to", str(there), *use(every_server)),
        *("--json", "--rtt", "20ms", "--bandwidth", "1Gbit"),
        environment=damaging(FLIP_ONCE, tmp_path, every_server.tool) | victim,
    )
    assert result(run)[0] == 0
    assert (tmp_path / "once").exists(), "it was damaged"
    assert not difference(source, there)


def test_what_a_profile_keeps_is_what_was_sent(
    start: Start, own_server: Server, source: Path, tmp_path: Path
) -> None:
    """Each probe has one of its files damaged, with the right size."""
    there = own_server.folder / "there"
    run = start(
        *("advise", "localhost", "--profile-tool", "globus-url-copy", "--budget", "15", "--json"),
        *("--server", own_server.url, "--data", str(source), "--to", str(there), "--keep"),
        environment=damaging(FLIP_FIRST, tmp_path) | {"OFFERED": str(own_server.folder)},
    )
    assert run.finish().returncode == 0
    kept = [path for path in there.rglob("*") if path.is_file()]
    assert kept
    for path in kept:
        assert path.read_bytes() == (source / path.relative_to(there)).read_bytes()
    notices = [one["message"] for one in run.events if one["event"] == "notice"]
    assert any("differs from its source" in one for one in notices)


def test_a_receipt_proves_the_copy_later(
    start: Start, any_server: AnyServer, source: Path, tmp_path: Path
) -> None:
    receipt = tmp_path / "receipt.json"
    assert result(transfer(start, any_server, source, "--json", "--receipt", str(receipt)))[0] == 0
    shutil.rmtree(source)
    there = any_server.folder / "there"

    def verified() -> tuple[int, str]:
        done = start("verify", str(receipt)).finish()
        return done.returncode, done.stdout + done.stderr

    status, text = verified()
    assert status == 0, text
    assert "22 files" in text
    shutil.move(there / "small/3.dat", tmp_path / "elsewhere")
    (there / "small/3.dat").symlink_to(tmp_path / "elsewhere")
    status, text = verified()
    assert status == 1
    assert "a symbolic link" in text
    (there / "small/3.dat").unlink()
    shutil.copy(tmp_path / "elsewhere", there / "small/3.dat")
    with (there / "small/3.dat").open("r+b") as file:
        file.seek(7)
        file.write(b"\xff\xfe")
    status, text = verified()
    assert status == 1
    assert "small/3.dat" in text
    (there / "small/3.dat").unlink()
    status, text = verified()
    assert status == 1
    forged = json.loads(receipt.read_text())
    del forged["files"]["small/3.dat"]
    receipt.write_text(json.dumps(forged))
    status, text = verified()
    assert status == 2
    assert "not what the agent signed" in text


def test_sizes_only_says_so(start: Start, any_server: AnyServer, source: Path) -> None:
    run = transfer(start, any_server, source, "--json", "--no-checksum")
    status, message = result(run)
    assert status == 0
    assert "sizes only" in message
    assert run.events[-1]["receipt"] is None
