"""What is compared, against the embedded agent, and the sentence that says what came out."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from advisor.agent.connect import reach_embedded
from advisor.api.tool import CommandRequest
from advisor.cli.transfer.verify import sentence
from advisor.domain.dataset import Dataset
from advisor.testing.samples import a_path
from advisor.transfer import verifying
from advisor.transfer.verifying import (
    CopyComparison,
    CopyProgress,
    Difference,
    NothingThere,
    compare,
    target_of,
)

from .conftest import Typed

ADVISOR = [sys.executable, "-P", "-m", "advisor"]
NAMES = ["plain", "a b", "it's", 'a"b', "a\nb", "Ünïcödé", "-rf", "*", "a\\b", "%41", "é/deep/er"]


def unheard(_: CopyProgress) -> None:
    pass


def compared(
    source: Path,
    target: Path | str,
    seen: Callable[[CopyProgress], None] = unheard,
    sizes_only: bool = False,
) -> CopyComparison:
    async def run() -> CopyComparison:
        reached = await reach_embedded()
        try:
            return await compare(reached.link, source, str(target), seen, sizes_only=sizes_only)
        finally:
            await reached.link.close()

    return asyncio.run(run())


@pytest.fixture
def here(tmp_path: Path) -> Path:
    folder = tmp_path / "here"
    for name in NAMES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"content of {name}")
    (folder / "empty").touch()
    return folder


@pytest.fixture
def there(here: Path, tmp_path: Path) -> Path:
    """A true copy, made by cp."""
    subprocess.run(["cp", "-r", here, tmp_path / "there"], check=True)
    return tmp_path / "there"


def test_a_true_copy(here: Path, there: Path) -> None:
    (there / "one more").write_text("of no matter")
    output: list[CopyProgress] = []
    found = compared(here, f"{there}/", output.append)
    assert found.identical
    assert found.files == len(NAMES) + 1
    assert found.total_bytes == sum(len(f"content of {name}".encode()) for name in NAMES)
    assert output[-1] == CopyProgress(read_bytes=found.total_bytes, total_bytes=found.total_bytes)


def test_every_kind_of_difference(here: Path, there: Path) -> None:
    (there / "a\nb").unlink()
    (there / "it's").write_text("short")
    (there / "Ünïcödé").write_text("CONTENT of Ünïcödé")
    (there / "a b").unlink()
    (there / "a b").mkdir()
    (here / "lost").symlink_to("nowhere")
    (here / os.fsdecode(b"latin-\xe9")).write_text("x")
    found = compared(here, there)
    assert {(one.name, one.kind) for one in found.differences} == {
        ("a\nb", "missing"),
        ("a b", "missing"),
        ("it's", "size"),
        ("Ünïcödé", "checksum"),
        ("lost", "unreadable"),
        ("latin-\\xe9", "name"),
    }
    assert found.files == len(NAMES) + 3
    assert not found.identical
    by_size = compared(here, there, sizes_only=True)
    assert {one.kind for one in by_size.differences} == {"missing", "size", "unreadable", "name"}


def test_a_file_alone(here: Path, there: Path) -> None:
    assert compared(here / "a b", there / "a b").identical
    (there / "a b").write_text("content OF a b")
    (one,) = compared(here / "a b", there / "a b").differences
    assert (one.name, one.kind) == ("", "checksum")


def test_a_link_counts_as_the_file_and_is_not_followed_into_a_folder(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("data")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "link").symlink_to(tmp_path / "data")
    (tmp_path / "here" / "round").symlink_to(tmp_path)
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "link").write_text("data")
    found = compared(tmp_path / "here", tmp_path / "there")
    # What was not compared is not called the same.
    assert [(one.name, one.kind) for one in found.differences] == [("round", "unreadable")]
    (tmp_path / "here" / "round").unlink()
    found = compared(tmp_path / "here", tmp_path / "there")
    assert (found.identical, found.files) == (True, 1)


def test_a_file_that_changes_while_it_is_read(
    here: Path, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = verifying._opened

    def changing(path: Path) -> object:
        file = opened(path)
        if path.name == "plain":
            path.write_text("something else, longer")
        if path.name == "it's":
            path.unlink()
        return file

    monkeypatch.setattr(verifying, "_opened", changing)
    found = compared(here, there)
    assert {(one.name, one.kind) for one in found.differences} == {
        ("plain", "changed"),
        ("it's", "changed"),
    }


def test_nothing_to_compare(tmp_path: Path) -> None:
    with pytest.raises(NothingThere):
        compared(tmp_path, "/nowhere")


@pytest.mark.parametrize("to", ["/store/run42", "/store/run42/", "store/x", "/", "//a/"])
@pytest.mark.parametrize("data", ["file.bin", "folder"])
def test_to_means_what_it_means_in_command_lines(tmp_path: Path, data: str, to: str) -> None:
    (tmp_path / "file.bin").write_bytes(b"123")
    (tmp_path / "folder").mkdir()
    largest = "" if data == "file.bin" else "one"
    request = CommandRequest(
        subject="tcp",
        settings={},
        path=a_path(),
        destination_host="host",
        dataset=Dataset(total_bytes=3, path=str(tmp_path / data), files=1, largest=largest),
        destination_path=to,
    )
    assert target_of(tmp_path / data, to) == request.target


def comparison(*differences: Difference, sizes_only: bool = False) -> CopyComparison:
    return CopyComparison(
        files=1204, total_bytes=3435973837, sizes_only=sizes_only, differences=differences
    )


def test_sentences() -> None:
    assert sentence(comparison()) == "1 204 files, 3.20 GiB: all the same"
    assert sentence(comparison(sizes_only=True)) == (
        "1 204 files, 3.20 GiB: all sizes are the same (contents were not compared)"
    )
    two = [
        Difference(name="a/b", kind="missing", here_bytes=3),
        Difference(name="two\nlines", kind="size", here_bytes=3, there_bytes=2),
    ]
    assert sentence(comparison(*two)) == (
        "2 of 1 204 files differ: a/b is missing there, "
        r"'two\nlines' has 3 bytes here and 2 there"
    )
    unsure = Difference(name="é", kind="changed", here_bytes=3)
    assert sentence(comparison(unsure)) == (
        "1 of 1 204 files could not be compared: é changed here meanwhile"
    )
    assert sentence(comparison(two[0], unsure)) == (
        "1 of 1 204 files differs: a/b is missing there; "
        "1 of 1 204 files could not be compared: é changed here meanwhile"
    )
    many = [Difference(name=f"f{i}", kind="checksum") for i in range(1100)]
    text = sentence(comparison(*many))
    assert "f9 has another checksum there, and 1 090 more" in text
    assert "f10 " not in text


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ADVISOR, "verify", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def test_the_command(here: Path, there: Path) -> None:
    same = run("localhost", "--data", here, "--to", there)
    assert (same.returncode, same.stderr) == (0, "")
    size = sum(file.stat().st_size for file in here.rglob("*") if file.is_file())
    assert same.stdout == f"12 files, {size} B: all the same\n"
    (there / "plain").write_text("CONTENT of plain")
    other = run("localhost", "--data", here, "--to", there)
    assert (other.returncode, other.stderr) == (1, "")
    assert other.stdout == "1 of 12 files differs: plain has another checksum there\n"
    by_size = run("localhost", "--data", here, "--to", there, "--sizes-only")
    assert (by_size.returncode, by_size.stderr) == (0, "")
    as_json = run("localhost", "--data", here, "--to", there, "--json")
    assert as_json.returncode == 1
    output = json.loads(as_json.stdout)
    assert (output["identical"], output["files"], output["sizes_only"]) == (False, 12, False)
    assert [(one["name"], one["kind"]) for one in output["differences"]] == [("plain", "checksum")]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["localhost", "--to", "/x"], ["--data"]),
        (["localhost", "--data", "/nonexistent", "--to", "/x"], ["--data", "/nonexistent"]),
        (["localhost", "--data", "/etc/hostname"], ["--to is missing"]),
        (["--data", "/etc/hostname", "--to", "/x"], ["DESTINATION"]),
        (["localhost", "--data", ".", "--to", "/x"], ["--data", "no files"]),
    ],
)
def test_nonsense(
    typed: Typed,
    words: list[str],
    named: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = typed("verify", *words)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert [word for word in named if word not in done.stderr] == []


def test_a_destination_that_cannot_be_reached(typed: Typed) -> None:
    done = typed("verify", "lab:nowhere", "--data", "/etc/hostname", "--to", "/x")
    assert done.returncode == 3
    assert done.stderr.startswith("advisor: no lab 'nowhere' is up")
    assert len(done.stderr.splitlines()) == 1


def test_ctrl_c(tmp_path: Path) -> None:
    """In the middle of files that would take hours."""
    for name in ("here", "there"):
        (tmp_path / name).touch()
        os.truncate(tmp_path / name, 2**43)
    words = ["localhost", "--data", str(tmp_path / "here"), "--to", str(tmp_path / "there")]
    with subprocess.Popen(
        [*ADVISOR, "verify", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # However this was started: a shell's background jobs pay no heed to Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        wanted = {str(tmp_path / "here"), str(tmp_path / "there")}
        try:
            while not wanted <= {one.path for one in psutil.Process(process.pid).open_files()}:
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, out, err) == (130, "", "")
